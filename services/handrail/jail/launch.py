"""The steps of a command's process on its way to exec: everything that cannot be undone. Standard library only.

Order matters, because each step takes away what an earlier one needed: limits, user, capabilities, no_new_privs and the
filter while the process waits for its job; the working directory and Landlock with the job.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handrail.jail import landlock, limits, privileges, seccomp, syscalls

STDIN, STDOUT, STDERR = 0, 1, 2
OOM_SCORE = 500  # when memory runs out, commands go before services


@dataclass(frozen=True, slots=True)
class Base:
    """What every command of one service shares, known before the first job."""

    abi: int
    system: Sequence[landlock.Held]  # what every command may read, and the devices
    account: tuple[int, int, tuple[int, ...]] | None  # uid, gid, groups; None = stay who we are
    limits: Mapping[str, int]
    network: bool
    program: bytes  # the system-call filter


def prepare(base: Base, tasks: int) -> landlock.Ruleset:
    """Everything that needs no job, so that none of it costs time when the job comes.

    The process has no privilege left after this. Returns the ruleset with the system's part in it.
    Raises OSError or ValueError: then nothing may run.
    """
    _raise_oom_score()
    limits.apply(base.limits, running_tasks=tasks)
    if base.account is not None:
        privileges.become(*base.account)
    if os.geteuid() == 0 or os.getuid() == 0:
        raise ValueError("commands never run as root")
    privileges.drop_capabilities()
    privileges.no_new_privileges()
    # cleared by the change of user, so set after it: the command dies with its shim
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    os.umask(0o022)
    _default_signals()
    seccomp.install(base.program)
    ruleset = landlock.Ruleset(base.abi, network=base.network)
    for held in base.system:
        ruleset.grant(held)
    return ruleset


def execute(ruleset: landlock.Ruleset, job: Mapping[str, Any], error_fd: int) -> None:
    """Become the command. Returns only by raising: OSError or ValueError with the reason.

    `error_fd` must be close-on-exec and numbered 3: its end tells the shim that the exec worked.
    """
    for path in job["read_only"]:
        with contextlib.suppress(FileNotFoundError):
            ruleset.allow(path, landlock.READ)
    for path in job["writable"]:
        ruleset.allow(path, landlock.WRITE)
    os.chdir(job["cwd"])
    here = os.getcwd()
    if not any(here == root or here.startswith(root.rstrip("/") + "/") for root in job["writable"]):
        # a link was swapped since the path was checked
        raise ValueError("the working directory is outside the work root")
    ruleset.restrict()
    syscalls.close_from(error_fd + 1)
    os.execve(job["argv"][0], job["argv"], job["env"])


def _raise_oom_score() -> None:
    handle = os.open("/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(handle, str(OOM_SCORE).encode())
    finally:
        os.close(handle)


def _default_signals() -> None:
    # what is ignored stays ignored over an exec: Python ignores SIGPIPE and SIGXFSZ
    for signum in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGHUP):
        signal.signal(signum, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, set())
