"""The last steps of a command before its exec, in the child: everything that cannot be undone. Standard library only.

Order matters: limits and user first, then no_new_privs, Landlock, working directory, and the filter last, because each
step takes away what an earlier one needed.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handrail.jail import landlock, limits, privileges, seccomp, syscalls

STDIN, STDOUT, STDERR = 0, 1, 2
OOM_SCORE = 500  # when memory runs out, commands go before services


@dataclass(frozen=True, slots=True)
class Base:
    """What every command of one service shares, known before the first job."""

    abi: int
    read_only: tuple[str, ...]
    devices: tuple[str, ...]
    account: tuple[int, int, tuple[int, ...]] | None  # uid, gid, groups; None = stay who we are
    programs: Mapping[bool, bytes]  # seccomp filter by "has network"


def prepare(base: Base) -> dict[bool, landlock.Ruleset]:
    """What can be done before the job is known: rulesets (by "has network") with the system's part in them."""
    rulesets: dict[bool, landlock.Ruleset] = {}
    for tcp in base.programs:
        ruleset = landlock.Ruleset(base.abi, tcp=tcp)
        ruleset.allow_existing(base.read_only, landlock.READ)
        ruleset.allow_existing(base.devices, landlock.DEVICE)
        rulesets[tcp] = ruleset
    return rulesets


def execute(base: Base, rulesets: Mapping[bool, landlock.Ruleset], job: Mapping[str, Any], error_fd: int, tasks: int) -> None:
    """Become the command. Returns only by raising: OSError or ValueError with the reason.

    `error_fd` must be close-on-exec and numbered 3: its end tells the shim that the exec worked.
    """
    network = bool(job["network"])
    ruleset = rulesets[network]
    _raise_oom_score()
    limits.apply(job["limits"], running_tasks=tasks)
    privileges.drop_bounding_set()
    if base.account is not None:
        privileges.become(*base.account)
    if os.geteuid() == 0 or os.getuid() == 0:
        raise ValueError("commands never run as root")
    privileges.drop_capabilities()
    privileges.no_new_privileges()
    # cleared by the change of user, so set after it: the command dies with its shim
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    ruleset.allow_existing(job["read_only"], landlock.READ)
    for path in job["writable"]:
        ruleset.allow(path, landlock.WRITE)
    os.umask(0o022)
    os.chdir(job["cwd"])
    here = os.getcwd()
    if not any(here == root or here.startswith(root.rstrip("/") + "/") for root in job["writable"]):
        # a link was swapped since the path was checked
        raise ValueError("the working directory is outside the work root")
    ruleset.restrict()
    syscalls.close_from(error_fd + 1)
    _default_signals()
    seccomp.install(base.programs[network])
    argv = [str(word) for word in job["argv"]]
    os.execve(argv[0], argv, {str(key): str(value) for key, value in job["env"].items()})


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
