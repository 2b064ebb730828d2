"""Who runs on a data directory: a lock that the kernel drops with its holder, and a name of the process that no reused pid bears.

The lock decides whether an instance runs; the contents (pid, start ticks, boot id) say whom to signal.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self, cast

from handrail.jail import procfs, tree
from handrail.kit.canonical import StrictJsonError, loads

MAX_BYTES = 65536
TRIES = 5
STEP_S = 0.02


@dataclass(frozen=True, slots=True)
class Owner:
    """The supervisor that holds the file. `run` is its run directory."""

    pid: int
    start: int
    boot: str
    address: str
    run: str

    def alive(self) -> bool:
        """Whether this very process still lives."""
        return self.boot == procfs.boot_id() and procfs.is_same(self.pid, self.start)

    def signal(self, signum: int) -> bool:
        """Signal this very process; False when it is gone (a process that got its pid since is left alone)."""
        stat = procfs.read_stat(self.pid)
        return self.alive() and stat is not None and stat.start == self.start and tree.send(stat, signum)


class PidFile:
    """The held file. It is removed when released; a file left by a crash is simply taken over."""

    def __init__(self, path: Path, fd: int) -> None:
        self._path = path
        self._fd = fd

    @classmethod
    def take(cls, path: Path) -> Self | None:
        """The lock, or None while another process holds it. Raises OSError."""
        tries = TRIES
        while True:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            if not _lock(fd, fcntl.LOCK_EX):
                os.close(fd)
                tries -= 1
                if tries == 0:
                    return None
                time.sleep(STEP_S)  # perhaps only somebody who looks (`is_held`)
                continue
            # the holder before us may have removed the file between our open and our lock: then we hold a nameless one
            try:
                current = path.stat(follow_symlinks=False)
            except FileNotFoundError:
                current = None
            mine = os.fstat(fd)
            if current is not None and (current.st_dev, current.st_ino) == (mine.st_dev, mine.st_ino):
                return cls(path, fd)
            os.close(fd)

    def write(self, address: str, run: Path) -> Owner:
        """Say who holds it."""
        stat = procfs.read_stat(os.getpid())
        owner = Owner(os.getpid(), stat.start if stat else 0, procfs.boot_id(), address, str(run))
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, json.dumps(asdict(owner)).encode(), 0)
        return owner

    def release(self) -> None:
        self._path.unlink(missing_ok=True)
        os.close(self._fd)


def running(path: Path) -> Owner | None:
    """The live instance of this data directory, or None. A stale or damaged file, or a foreign pid, is None."""
    owner = read(path)
    return owner if owner is not None and owner.alive() and is_held(path) else None


def is_held(path: Path) -> bool:
    """Whether some process holds the lock now."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _lock(fd, fcntl.LOCK_SH)
    finally:
        os.close(fd)


def _lock(fd: int, kind: int) -> bool:
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def read(path: Path) -> Owner | None:
    """What the file says, whether or not it is still true; None for none or a damaged one."""
    try:
        with path.open("rb") as file:
            value = loads(file.read(MAX_BYTES))
    except (OSError, StrictJsonError):
        return None
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, object]", value)
    pid, start = fields.get("pid"), fields.get("start")
    if not isinstance(pid, int) or not isinstance(start, int):
        return None
    return Owner(pid, start, str(fields.get("boot", "")), str(fields.get("address", "")), str(fields.get("run", "")))
