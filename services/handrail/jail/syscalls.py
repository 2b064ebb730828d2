"""The few system calls that Python does not offer, by ctypes. Standard library only: the fork server imports this.

Numbers of x86_64 and aarch64; calls from 424 on have the same number on both.
"""

from __future__ import annotations

import ctypes
import os

MACHINE = os.uname().machine
SUPPORTED = ("x86_64", "aarch64")

PR_SET_PDEATHSIG = 1
PR_CAPBSET_READ = 23
PR_CAPBSET_DROP = 24
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
PR_SET_CHILD_SUBREAPER = 36
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
PR_SET_NAME = 15
SECCOMP_MODE_FILTER = 2

NR_LANDLOCK_CREATE_RULESET = 444
NR_LANDLOCK_ADD_RULE = 445
NR_LANDLOCK_RESTRICT_SELF = 446
NR_IDENTITY = {"x86_64": (116, 119, 117), "aarch64": (159, 149, 147)}  # setgroups, setresgid, setresuid
NR_GETUID = {"x86_64": 102, "aarch64": 174}
NR_CAPSET = {"x86_64": 126, "aarch64": 91}

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long
_LIBC.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4


def syscall(number: int, *args: int | ctypes.Array[ctypes.c_char] | None) -> int:
    """A raw system call. Raises OSError with its errno."""
    words = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    result = int(_LIBC.syscall(ctypes.c_long(number), *words))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def prctl(option: int, arg2: int = 0, arg3: int = 0, arg4: int = 0, arg5: int = 0) -> int:
    """The system call of that name. Raises OSError."""
    result = int(_LIBC.prctl(option, arg2, arg3, arg4, arg5))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def set_name(name: str) -> None:
    """The name that `ps` shows in its short form (15 bytes)."""
    buffer = ctypes.create_string_buffer(name.encode()[:15])
    prctl(PR_SET_NAME, ctypes.addressof(buffer))
