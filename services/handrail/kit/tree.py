"""Whole trees by descriptors: remove, and copy across file systems. Links are copied as links and never followed."""

from __future__ import annotations

import contextlib
import errno
import os
import stat

_DIR = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
COPY_CHUNK = 1 << 22  # bytes a copy_file_range
MAX_DEPTH = 400  # levels; each holds a descriptor or two while it is worked on


def remove(dir_fd: int, name: bytes) -> None:
    """Remove an entry and everything below it. A missing one is fine. Raises OSError."""
    try:
        info = os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISDIR(info.st_mode):
        _remove_directory(dir_fd, name, 0)
    else:
        os.unlink(name, dir_fd=dir_fd)


def _remove_directory(dir_fd: int, name: bytes, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    fd = _open_writable(dir_fd, name)
    try:
        for child in _children(fd):
            try:
                os.unlink(child, dir_fd=fd)
            except FileNotFoundError:
                continue
            except (IsADirectoryError, PermissionError):  # POSIX allows either for a directory
                _remove_directory(fd, child, depth + 1)
    finally:
        os.close(fd)
    with contextlib.suppress(FileNotFoundError):
        os.rmdir(name, dir_fd=dir_fd)


def _open_writable(dir_fd: int, name: bytes) -> int:
    """The directory open; its owner's own mode bits (a read-only directory) do not stop its owner from removing it."""
    try:
        fd = os.open(name, _DIR, dir_fd=dir_fd)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=dir_fd)
        return os.open(name, _DIR, dir_fd=dir_fd)
    info = os.fstat(fd)
    if info.st_mode & 0o300 != 0o300:  # noqa: PLR2004 - owner may write and enter
        with contextlib.suppress(PermissionError):
            os.fchmod(fd, stat.S_IMODE(info.st_mode) | 0o700)
    return fd


def _children(fd: int) -> list[bytes]:
    with os.scandir(fd) as entries:
        return [os.fsencode(entry.name) for entry in entries]


def copy(src_dir: int, src: bytes, dst_dir: int, dst: bytes) -> None:
    """Copy an entry with its mode and times; `dst` must not exist. Files are synced.

    Pipes are made anew, sockets inside a directory are left out (nobody can listen on a copy). Devices cannot be copied:
    OSError(EINVAL). On failure what was written of `dst` is removed.
    """
    try:
        _copy(src_dir, src, dst_dir, dst, 0)
    except BaseException as exc:
        if not isinstance(exc, FileExistsError):
            with contextlib.suppress(OSError):
                remove(dst_dir, dst)
        raise


def _copy(src_dir: int, src: bytes, dst_dir: int, dst: bytes, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    info = os.stat(src, dir_fd=src_dir, follow_symlinks=False)
    if stat.S_ISLNK(info.st_mode):
        os.symlink(os.readlink(src, dir_fd=src_dir), dst, dir_fd=dst_dir)
    elif stat.S_ISREG(info.st_mode):
        _copy_file(src_dir, src, dst_dir, dst)
    elif stat.S_ISDIR(info.st_mode):
        _copy_directory(src_dir, src, dst_dir, dst, depth)
    elif stat.S_ISFIFO(info.st_mode):
        os.mkfifo(dst, stat.S_IMODE(info.st_mode), dir_fd=dst_dir)
    elif not (stat.S_ISSOCK(info.st_mode) and depth > 0):
        raise OSError(errno.EINVAL, "not a file, directory, link or pipe")


def _copy_directory(src_dir: int, src: bytes, dst_dir: int, dst: bytes, depth: int) -> None:
    os.mkdir(dst, 0o700, dir_fd=dst_dir)
    source = os.open(src, _DIR, dir_fd=src_dir)
    try:
        info = os.fstat(source)
        target = os.open(dst, _DIR, dir_fd=dst_dir)
        try:
            for child in _children(source):
                _copy(source, child, target, child, depth + 1)
            _keep(target, info)
        finally:
            os.close(target)
    finally:
        os.close(source)


def _copy_file(src_dir: int, src: bytes, dst_dir: int, dst: bytes) -> None:
    source = os.open(src, _FILE, dir_fd=src_dir)
    try:
        info = os.fstat(source)
        if not stat.S_ISREG(info.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        target = os.open(dst, _NEW, 0o600, dir_fd=dst_dir)
        try:
            _pour(source, target)
            _keep(target, info)
            os.fsync(target)
        finally:
            os.close(target)
    finally:
        os.close(source)


def _pour(source: int, target: int) -> None:
    try:
        while os.copy_file_range(source, target, COPY_CHUNK):
            pass
    except OSError as exc:
        if exc.errno not in (errno.EXDEV, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS, errno.EBADF):
            raise
    # whatever is left: file systems that cannot copy by themselves, or report an early end
    while data := os.read(source, COPY_CHUNK):
        view = memoryview(data)
        while view:
            view = view[os.write(target, view) :]


def _keep(fd: int, info: os.stat_result) -> None:
    with contextlib.suppress(PermissionError):
        os.fchown(fd, info.st_uid, info.st_gid)
    os.fchmod(fd, stat.S_IMODE(info.st_mode) & 0o1777)
    os.utime(fd, ns=(info.st_atime_ns, info.st_mtime_ns))
