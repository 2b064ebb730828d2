"""What a child that parses hostile documents gives up before it looks at one."""

from __future__ import annotations

import os
import resource

from handrail.jail import landlock, seccomp, syscalls

CODECS = ("cp437", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "ascii")  # a codec is a file, and soon no file can be opened any more


def give_up(*, memory: int, cpu_s: int) -> None:
    """No new files, processes or sockets from here on, and no more than so many bytes and seconds. Import everything before."""
    for codec in CODECS:
        "".encode(codec)
    for which, value in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(which, (value, value))
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    version = landlock.abi()
    if version > 0:
        rules = landlock.Ruleset(version, network=False)
        rules.restrict()
        rules.close()
    if os.uname().machine in syscalls.SUPPORTED:
        seccomp.install(seccomp.build(os.uname().machine, inet=False, truncate=version > 0))
