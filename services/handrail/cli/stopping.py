"""`handrail stop`: asks over the API first, then by signal, and at last by force."""

from __future__ import annotations

import signal
import time
from pathlib import Path

from handrail.cli import client, pidfile
from handrail.cli.errors import CliError, NotRunning
from handrail.cli.pidfile import Owner
from handrail.jail import procfs, tree
from handrail.kit.clock import SYSTEM

ANSWER_S = 3.0  # for its yes
ASKED_S = 12.0  # for its end; the supervisor itself needs less than 10
SIGNALLED_S = 12.0
FORCED_S = 5.0
STEP_S = 0.05


def stop(data: Path) -> bool:
    """End the instance of this data directory. True when it ended because it was asked to. Raises NotRunning."""
    owner = pidfile.running(data / "handrail.pid")
    if owner is None:
        raise NotRunning(data=data)
    try:
        client.Admin(Path(owner.run) / "admin.sock", data).call("POST", "/admin/shutdown", timeout_s=ANSWER_S)
    except CliError:
        pass  # not up yet, stuck or already stopping: the signal is for that
    else:
        if _gone(owner, ASKED_S):
            return True
    # the first signal asks, the second forces, then the kernel: the parts die with their supervisor
    for signum, patience in ((signal.SIGTERM, SIGNALLED_S), (signal.SIGTERM, FORCED_S), (signal.SIGKILL, FORCED_S)):
        below = procfs.descendants(owner.pid) if signum == signal.SIGKILL else ()
        owner.signal(signum)
        if _gone(owner, patience):
            for stat in below:
                tree.send(stat, signal.SIGKILL)
            return False
    return False


def stop_if_running(data: Path) -> None:
    """As `stop`; nothing runs is fine too."""
    if pidfile.running(data / "handrail.pid") is not None:
        stop(data)


def _gone(owner: Owner, patience_s: float) -> bool:
    deadline = SYSTEM.monotonic() + patience_s
    while owner.alive():
        if SYSTEM.monotonic() > deadline:
            return False
        time.sleep(STEP_S)
    return True
