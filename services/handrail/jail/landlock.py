"""Landlock: what a command may touch, enforced by the kernel. Standard library only: the fork server imports this.

Source of the constants: include/uapi/linux/landlock.h. The ABI version of the running kernel decides which rights
exist; what the kernel cannot mediate is refused by the seccomp filter instead (truncate(2) below ABI 3).
"""

from __future__ import annotations

import contextlib
import os
import stat
import struct
from collections.abc import Iterable

from handrail.jail import syscalls

MIN_ABI = 2  # ABI 1 forbids every rename between directories, which breaks git and every build

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE, MAKE_CHAR, MAKE_DIR = 1 << 4, 1 << 5, 1 << 6, 1 << 7
MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = 1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
BIND_TCP, CONNECT_TCP = 1 << 0, 1 << 1
SCOPE_ABSTRACT_UNIX, SCOPE_SIGNAL = 1 << 0, 1 << 1

READ = EXECUTE | READ_FILE | READ_DIR
# a work root: everything but device nodes, which nothing in a project needs
WRITE = (
    READ | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_SYM | REFER | TRUNCATE
)
DEVICE = READ_FILE | WRITE_FILE | IOCTL_DEV
FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV

_RULE_PATH_BENEATH = 1
_CREATE_VERSION = 1
_NETWORK_ABI, _IOCTL_ABI, _TRUNCATE_ABI, _SCOPE_ABI = 4, 5, 3, 6


def abi() -> int:
    """The kernel's Landlock ABI; 0 when it has none or it is switched off."""
    try:
        return syscalls.syscall(syscalls.NR_LANDLOCK_CREATE_RULESET, None, 0, _CREATE_VERSION)
    except OSError:
        return 0


def handled_fs(version: int) -> int:
    """Every file right that a kernel of this ABI mediates."""
    rights = (1 << 13) - 1 | REFER
    if version >= _TRUNCATE_ABI:
        rights |= TRUNCATE
    if version >= _IOCTL_ABI:
        rights |= IOCTL_DEV
    return rights


class Ruleset:
    """A ruleset being built; `restrict` binds the calling process and its children to it for good."""

    def __init__(self, version: int, *, tcp: bool) -> None:
        """`tcp` True leaves TCP alone, False refuses every bind and connect. Raises OSError."""
        self._fs = handled_fs(version)
        network = 0 if tcp or version < _NETWORK_ABI else BIND_TCP | CONNECT_TCP
        scope = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL if version >= _SCOPE_ABI else 0
        fields = [self._fs]
        if version >= _NETWORK_ABI:
            fields.append(network)
        if version >= _SCOPE_ABI:
            fields.append(scope)
        raw = struct.pack(f"={len(fields)}Q", *fields)
        self._fd = syscalls.syscall(syscalls.NR_LANDLOCK_CREATE_RULESET, _buffer(raw), len(raw), 0)

    def allow(self, path: str, rights: int) -> None:
        """Grant `rights` on the file or beneath the directory. Raises OSError when it is not there."""
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not stat.S_ISDIR(os.fstat(handle).st_mode):
                rights &= FILE_RIGHTS
            raw = struct.pack("=Qi", rights & self._fs, handle)
            syscalls.syscall(syscalls.NR_LANDLOCK_ADD_RULE, self._fd, _RULE_PATH_BENEATH, _buffer(raw), 0)
        finally:
            os.close(handle)

    def allow_existing(self, paths: Iterable[str], rights: int) -> None:
        """Grant on those that are there."""
        for path in paths:
            with contextlib.suppress(FileNotFoundError, PermissionError, NotADirectoryError):
                self.allow(path, rights)

    def restrict(self) -> None:
        """Bind this process. Needs no_new_privs. Raises OSError."""
        syscalls.syscall(syscalls.NR_LANDLOCK_RESTRICT_SELF, self._fd, 0)
        os.close(self._fd)


def _buffer(raw: bytes) -> syscalls.ctypes.Array[syscalls.ctypes.c_char]:
    return syscalls.ctypes.create_string_buffer(raw, len(raw))
