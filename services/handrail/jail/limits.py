"""Resource limits of one command. Standard library only: the fork server imports this."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Mapping

MIB = 1024 * 1024
DEFAULT: Mapping[str, int] = {
    "processes": 512,  # more than were running for this user when the command started
    "file_mib": 4096,  # one file
    "open_files": 8192,
    "memory_mib": 0,  # private memory of one process; 0 = three quarters of the machine's
    "cpu_s": 0,  # CPU seconds of one process; 0 = only the time-out counts
}


def total_memory_mib() -> int:
    """RAM of the machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // MIB


def tasks_of(uid: int) -> int:
    """Threads and processes of `uid` now: the kernel counts these against RLIMIT_NPROC."""
    total = 0
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            if os.stat(f"/proc/{name}").st_uid != uid:
                continue
            total += os.stat(f"/proc/{name}/task").st_nlink - 2
        except OSError:
            continue
    return total


def apply(limits: Mapping[str, int]) -> None:
    """Set the limits of this process and its children, but for processes: soft = hard, so that they cannot be raised again."""
    memory = limits["memory_mib"] or total_memory_mib() * 3 // 4
    _set(resource.RLIMIT_CORE, 0)
    _set(resource.RLIMIT_FSIZE, limits["file_mib"] * MIB)
    _set(resource.RLIMIT_NOFILE, limits["open_files"])
    # RLIMIT_AS would count what V8 and Go only reserve; RLIMIT_DATA counts private writable memory
    _set(resource.RLIMIT_DATA, memory * MIB)
    _set(resource.RLIMIT_MSGQUEUE, 0)
    _set(resource.RLIMIT_MEMLOCK, 8 * MIB)
    if limits["cpu_s"]:
        _set(resource.RLIMIT_CPU, limits["cpu_s"])


def allow_processes(count: int) -> None:
    """Set the soft limit of processes of our user, others of its included; the hard one stays, so that it can be set anew."""
    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    soft = count if hard == resource.RLIM_INFINITY else min(count, hard)
    resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))


def fix_processes(pid: int) -> None:
    """Make a child's soft limit of processes its hard one. A child that is gone is fine."""
    with contextlib.suppress(OSError):
        soft = resource.getrlimit(resource.RLIMIT_NPROC)[0]
        resource.prlimit(pid, resource.RLIMIT_NPROC, (soft, soft))


def _set(which: int, value: int) -> None:
    hard = resource.getrlimit(which)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(which, (value, value))
