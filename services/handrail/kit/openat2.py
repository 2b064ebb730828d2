"""System calls that Python does not offer: openat2, renameat2, the type of a file system."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from functools import cache
from typing import NamedTuple

SYS_OPENAT2 = 437  # the same on every architecture
RESOLVE_NO_MAGICLINKS = 0x02
RESOLVE_BENEATH = 0x08
RENAME_NOREPLACE = 1
_AT_FDCWD, _STATX_INO, _STATX_MNT_ID, _STATX_SIZE = -100, 0x100, 0x1000, 256
# file systems whose "files" are kernel interfaces
PSEUDO_MAGIC = frozenset({
    0x9FA0,  # proc
    0x62656572,  # sysfs
    0x1373,  # devfs
    0x1CD1,  # devpts
    0x27E0EB,  # cgroup
    0x63677270,  # cgroup2
    0x64626720,  # debugfs
    0x74726163,  # tracefs
    0x73636673,  # securityfs
    0xCAFE4A11,  # bpf
    0x62656570,  # configfs
    0x6E736673,  # nsfs
    0x50495045,  # pipefs
    0x534F434B,  # sockfs
})  # fmt: skip


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


_LIBC = ctypes.CDLL(None, use_errno=True)
_syscall = _LIBC.syscall
_syscall.restype = ctypes.c_long
_syscall.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)
_HOW_SIZE = ctypes.sizeof(_How)


@cache
def _how(flags: int) -> _How:
    # the kernel only reads it, so one per set of flags serves all threads
    return _How(flags | os.O_CLOEXEC, 0, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS)


@cache
def _how_address(flags: int) -> int:
    return ctypes.addressof(_how(flags))


def open_beneath(dir_fd: int, relative: bytes, flags: int) -> int:
    """Open `relative` below `dir_fd`; no step may leave it.

    Raises OSError: EXDEV for an escape or any absolute link, ELOOP for a magic link.
    """
    fd = int(_syscall(SYS_OPENAT2, dir_fd, relative, _how_address(flags), _HOW_SIZE))
    if fd < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return fd


@cache
def available() -> bool:
    """Whether this kernel has openat2 and no seccomp filter forbids it (ENOSYS or EPERM on a harmless call)."""
    try:
        root = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        os.close(open_beneath(root, b".", os.O_PATH | os.O_DIRECTORY))
    except OSError:
        return False
    finally:
        os.close(root)
    return True


class Identity(NamedTuple):
    """What tells a directory from another one at the same path. `mount` is 0 where the kernel does not say."""

    dev: int
    ino: int
    mount: int


def identity(path: bytes) -> Identity:
    """Of what the path leads to, links followed. Raises OSError."""
    call = getattr(_LIBC, "statx", None)
    if call is None:
        info = os.stat(path)
        return Identity(info.st_dev, info.st_ino, 0)
    buffer = ctypes.create_string_buffer(_STATX_SIZE)
    if call(_AT_FDCWD, path, 0, _STATX_INO | _STATX_MNT_ID, buffer) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    (mask,) = struct.unpack_from("=I", buffer, 0)
    (ino,) = struct.unpack_from("=Q", buffer, 32)
    major, minor, mount = struct.unpack_from("=IIQ", buffer, 136)
    return Identity(os.makedev(major, minor), ino, mount if mask & _STATX_MNT_ID else 0)


def rename_noreplace(src_dir: int, src: bytes, dst_dir: int, dst: bytes) -> None:
    """Rename without ever replacing. Raises OSError (EEXIST when `dst` is there).

    Where the file system or libc cannot do it in one step, a check stands in front of the rename.
    """
    call = getattr(_LIBC, "renameat2", None)
    if call is not None and call(src_dir, src, dst_dir, dst, RENAME_NOREPLACE) == 0:
        return
    number = ctypes.get_errno() if call is not None else errno.ENOSYS
    if number not in (errno.ENOSYS, errno.EINVAL, errno.EPERM):
        raise OSError(number, os.strerror(number))
    try:
        os.stat(dst, dir_fd=dst_dir, follow_symlinks=False)
    except FileNotFoundError:
        os.rename(src, dst, src_dir_fd=src_dir, dst_dir_fd=dst_dir)
        return
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def is_pseudo(fd: int) -> bool:
    """Whether the open file belongs to a kernel file system (/proc, /sys, ...), wherever that is mounted."""
    buffer = (ctypes.c_long * 32)()  # struct statfs; f_type is its first word on 64-bit Linux
    if _LIBC.fstatfs(fd, ctypes.byref(buffer)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return (int(buffer[0]) & 0xFFFFFFFF) in PSEUDO_MAGIC
