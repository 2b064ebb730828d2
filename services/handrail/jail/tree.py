"""Killing a whole tree: TERM, grace, KILL, again until nothing is left. Standard library only."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable

from handrail.jail import procfs

TERM_GRACE_S = 0.3
KILL_LIMIT_S = 1.5  # with the grace this stays under the promised two seconds
STEP_S = 0.01


def send(stat: procfs.Stat, signum: int) -> bool:
    """Signal exactly this process: a pid that was reused since is left alone. False when it is gone."""
    try:
        handle = os.pidfd_open(stat.pid)
    except OSError:
        return False
    try:
        # the descriptor pins the process, so that the check and the signal are about the same one
        now = procfs.read_stat(stat.pid)
        if now is None or now.start != stat.start:
            return False
        signal.pidfd_send_signal(handle, signum)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def kill_below(
    root: int,
    *,
    grace_s: float = TERM_GRACE_S,
    limit_s: float = KILL_LIMIT_S,
    reap: Callable[[], None] = lambda: None,
    main: int = 0,
) -> bool:
    """End every descendant of `root`. True when none is left; False when `limit_s` was not enough.

    `root` should be a subreaper (or the tree have none that double-forked away): orphans then come back to it.
    `reap` is called between rounds to collect dead children of the caller. `main` gets its TERM first.
    """
    _round(root, signal.SIGTERM, main)
    # a stopped process acts on TERM only when it runs again
    _round(root, signal.SIGCONT, main)
    deadline = time.monotonic() + grace_s
    while time.monotonic() < deadline:
        reap()
        if not _alive(root):
            return True
        time.sleep(STEP_S)
    deadline = time.monotonic() + limit_s
    while True:
        _round(root, signal.SIGKILL, main)
        reap()
        if not _alive(root):
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(STEP_S)


def kill_group(pgid: int, signum: int) -> None:
    """Signal a process group; a group that is gone is fine."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pgid, signum)


def _alive(root: int) -> list[procfs.Stat]:
    return [stat for stat in procfs.descendants(root) if stat.state not in ("Z", "X")]


def _round(root: int, signum: int, main: int) -> None:
    targets = sorted(_alive(root), key=lambda stat: stat.pid != main)
    for stat in targets:
        send(stat, signum)
