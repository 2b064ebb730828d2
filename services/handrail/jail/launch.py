"""Starting one command in its jail. Standard library only: the fork server imports this.

Landlock, the system-call filter, no_new_privs and capabilities belong to a *thread*, and a child inherits them from the
thread that starts it. So a shim starts its command from a thread that has put itself into the jail: the command begins
its life confined, and it is started by vfork, which copies nothing. The rest of the shim stays outside and free.
Resource limits belong to the process: the shim has taken them for itself before, at its start.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handrail.jail import landlock, limits, privileges, seccomp, syscalls

OOM_SCORE = 500  # when memory runs out, commands go before services
RULES_S = 60.0  # files of the system that were replaced since are picked up after this
Rules = tuple[landlock.Ruleset, tuple[tuple[int, int], ...], float]


@dataclass(frozen=True, slots=True)
class Base:
    """What every command of one service shares."""

    abi: int
    read_only: tuple[str, ...]
    devices: tuple[str, ...]
    account: tuple[int, int, tuple[int, ...]] | None  # uid, gid, groups; None = stay who we are
    limits: Mapping[str, int]
    network: bool
    program: bytes  # the system-call filter


class Launcher:
    """Starts commands, one at a time. Keeps the ruleset of the last workspace, because the next command is mostly its own."""

    def __init__(self, base: Base) -> None:
        self._base = base
        self._uid = base.account[0] if base.account else os.getuid()
        self._null = os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
        self._rules: dict[tuple[tuple[str, ...], tuple[str, ...]], Rules] = {}

    def start(self, job: Mapping[str, Any], stdout: int, stderr: int) -> int:
        """The pid of the running command. Raises OSError, ValueError or subprocess.SubprocessError: then nothing runs."""
        roots = tuple(str(path) for path in job["writable"])
        ruleset = self._ruleset(roots, tuple(str(path) for path in job["read_only"]))
        directory = os.open(str(job["cwd"]), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _check_below(directory, roots)
            streams = (self._null, stdout, stderr)
            try:
                return self._in_jail(ruleset, job, streams, directory)
            except (BlockingIOError, RuntimeError):
                # our user's processes are at the limit, other commands' included: this one may add its own share
                limits.allow_processes(limits.tasks_of(self._uid) + self._base.limits["processes"])
                return self._in_jail(ruleset, job, streams, directory)
        finally:
            os.close(directory)

    def _ruleset(self, writable: tuple[str, ...], read_only: tuple[str, ...]) -> landlock.Ruleset:
        places = tuple((info.st_dev, info.st_ino) for info in map(os.stat, writable))
        now = time.monotonic()
        cached = self._rules.get((writable, read_only))
        if cached is not None and cached[1] == places and now < cached[2]:
            return cached[0]
        for old in self._rules.values():
            old[0].close()
        self._rules.clear()
        base = self._base
        ruleset = landlock.Ruleset(base.abi, network=base.network)
        for paths, rights in ((base.read_only, landlock.READ), (base.devices, landlock.DEVICE), (read_only, landlock.READ)):
            for path in dict.fromkeys(map(os.path.realpath, paths)):
                with contextlib.suppress(FileNotFoundError, PermissionError, NotADirectoryError):
                    ruleset.allow(path, rights)
        for path in writable:
            ruleset.allow(path, landlock.WRITE)
        self._rules[(writable, read_only)] = (ruleset, places, now + RULES_S)
        return ruleset

    def _in_jail(self, ruleset: landlock.Ruleset, job: Mapping[str, Any], streams: tuple[int, int, int], directory: int) -> int:
        outcome: list[subprocess.Popen[bytes] | Exception] = []
        done = _thread.allocate_lock()
        done.acquire()

        def confined() -> None:
            try:
                enter(self._base, ruleset)
                outcome.append(_spawn(job, streams, directory))
            except (OSError, ValueError, RuntimeError, subprocess.SubprocessError) as exc:
                outcome.append(exc)  # carried over to the caller's thread
            finally:
                done.release()

        _thread.start_new_thread(confined, ())
        done.acquire()
        started = outcome[0] if outcome else ValueError("the start failed, the trace is in the log")
        if isinstance(started, Exception):
            raise started
        started.returncode = 0  # the shim waits for its children itself
        limits.fix_processes(started.pid)
        with contextlib.suppress(OSError), open(f"/proc/{started.pid}/oom_score_adj", "wb", buffering=0) as file:
            file.write(str(OOM_SCORE).encode())
        return started.pid


def enter(base: Base, ruleset: landlock.Ruleset) -> None:
    """Put the calling thread into the jail, for good. Raises OSError or ValueError: then it must start nothing."""
    if base.account is not None:
        privileges.become_in_thread(*base.account)
    if syscalls.syscall(syscalls.NR_GETUID[syscalls.MACHINE]) == 0:
        raise ValueError("commands never run as root")
    privileges.drop_capabilities()
    privileges.no_new_privileges()
    ruleset.restrict()
    seccomp.install(base.program)


def _spawn(job: Mapping[str, Any], streams: tuple[int, int, int], directory: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        job["argv"],
        env=job["env"],
        # by the descriptor: what was checked is what it becomes, whatever happens to the name
        cwd=f"/proc/self/fd/{directory}",
        stdin=streams[0],
        stdout=streams[1],
        stderr=streams[2],
        close_fds=True,
        restore_signals=True,
        start_new_session=True,
        umask=0o022,
    )


def _check_below(directory: int, roots: tuple[str, ...]) -> None:
    here = os.readlink(f"/proc/self/fd/{directory}")
    if not any(here == root or here.startswith(root.rstrip("/") + "/") for root in roots):
        # a link was swapped since the path was checked
        raise ValueError("the working directory is outside the work root")
