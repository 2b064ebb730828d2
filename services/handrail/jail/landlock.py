"""Landlock: what a command may touch, enforced by the kernel. Standard library only: the fork server imports this.

Source of the constants: include/uapi/linux/landlock.h. The ABI version of the running kernel decides which rights
exist; what the kernel cannot mediate is refused by the seccomp filter instead (truncate(2) below ABI 3).
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct

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
WRITE = READ | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_SYM | REFER | TRUNCATE
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


class Held:
    """A path kept open together with the rights to grant on it, so that granting is one system call."""

    def __init__(self, path: str, rights: int, version: int) -> None:
        """Raises OSError when the path is not there."""
        self.fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        if not stat.S_ISDIR(os.fstat(self.fd).st_mode):
            rights &= FILE_RIGHTS
        self.rule = _buffer(struct.pack("=Qi", rights & handled_fs(version), self.fd))

    def close(self) -> None:
        """Let go of the path."""
        os.close(self.fd)


class Ruleset:
    """A ruleset being built; `restrict` binds the calling thread and its children to it for good.

    It refuses all file access that is not granted, and signals and abstract sockets to the outside (from ABI 6 on).
    """

    def __init__(self, version: int, *, network: bool) -> None:
        """Without `network` every TCP bind and connect is refused (from ABI 4 on). Raises OSError."""
        self.version = version
        fields = [handled_fs(version)]
        if version >= _NETWORK_ABI:
            fields.append(0 if network else BIND_TCP | CONNECT_TCP)
        if version >= _SCOPE_ABI:
            fields.append(SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL)
        raw = struct.pack(f"={len(fields)}Q", *fields)
        self._fd = syscalls.syscall(syscalls.NR_LANDLOCK_CREATE_RULESET, _buffer(raw), len(raw), 0)

    def grant(self, held: Held) -> None:
        """Grant on a path that is open. Raises OSError."""
        syscalls.syscall(syscalls.NR_LANDLOCK_ADD_RULE, self._fd, _RULE_PATH_BENEATH, held.rule, 0)

    def allow(self, path: str, rights: int) -> None:
        """Grant `rights` on the file or beneath the directory. Raises OSError when it is not there."""
        held = Held(path, rights, self.version)
        try:
            self.grant(held)
        finally:
            held.close()

    def restrict(self) -> None:
        """Bind the calling thread and what it starts. Needs no_new_privs. Raises OSError."""
        syscalls.syscall(syscalls.NR_LANDLOCK_RESTRICT_SELF, self._fd, 0)

    def close(self) -> None:
        """Forget the ruleset; who is bound to it stays bound."""
        os.close(self._fd)


def _buffer(raw: bytes) -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(raw, len(raw))
