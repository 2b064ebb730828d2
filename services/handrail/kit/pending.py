"""A file that is written beside its place and gets its name in one step, so that nobody ever sees a part of it."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat

from handrail.kit.component_walk import Spot

TEMP_PREFIX = ".handrail-"
TEMP_SUFFIX = ".tmp"
NEW_FILE = 0o666  # less the umask: a new file never gets an execute bit, script or not
SELF_FD = "/proc/self/fd"


def temporary_name() -> bytes:
    """A name that listings and searches do not show."""
    return f"{TEMP_PREFIX}{secrets.token_hex(8)}{TEMP_SUFFIX}".encode()


class Pending:
    """An open file in the directory `dir_fd` (owned by the caller, open until `close`) that has no place yet.

    Without a name where the file system can (nothing is left after a kill), else with a temporary one. Raises OSError.
    """

    def __init__(self, dir_fd: int) -> None:
        self._dir_fd = dir_fd
        self._temp = temporary_name()
        self.fd, self._named = _open(dir_fd, self._temp)

    def write(self, data: bytes | memoryview) -> None:
        """Append all of `data`."""
        view = memoryview(data)
        while view:
            view = view[os.write(self.fd, view) :]

    def settle(self, old: os.stat_result | None) -> None:
        """Owner and mode of the file that it replaces; then the bytes are on disk. The directory is not synced, see docs/decisions/031."""
        if old is not None:
            info = os.fstat(self.fd)
            if (info.st_uid, info.st_gid) != (old.st_uid, old.st_gid):
                with contextlib.suppress(PermissionError):
                    os.fchown(self.fd, old.st_uid, old.st_gid)
            # after the owner: chown clears set-id bits, and they are not given back
            os.fchmod(self.fd, stat.S_IMODE(old.st_mode) & 0o1777)
        os.fsync(self.fd)

    def publish(self, spot: Spot, *, new: bool, exclusive: bool) -> os.stat_result:
        """Give it the name of `spot`, an entry of the same directory. `new`: nothing was there a moment ago.

        With `exclusive` FileExistsError when something is there now; else that is replaced.
        """
        if not self._named and (new or exclusive):
            try:
                self._link(spot.dir_fd, spot.name)
                return os.fstat(self.fd)
            except FileExistsError:
                if exclusive:
                    raise
        if not self._named:
            self._link(spot.dir_fd, self._temp)
            self._named = True
        if exclusive:
            os.link(self._temp, spot.name, src_dir_fd=self._dir_fd, dst_dir_fd=spot.dir_fd, follow_symlinks=False)
        else:
            os.rename(self._temp, spot.name, src_dir_fd=self._dir_fd, dst_dir_fd=spot.dir_fd)
            self._named = False
        return os.fstat(self.fd)

    def close(self) -> None:
        """Let go; without a `publish` before nothing is left."""
        if self._named:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._temp, dir_fd=self._dir_fd)
            self._named = False
        os.close(self.fd)

    def _link(self, dir_fd: int, name: bytes) -> None:
        os.link(f"{SELF_FD}/{self.fd}".encode(), name, dst_dir_fd=dir_fd, follow_symlinks=True)


def _open(dir_fd: int, name: bytes) -> tuple[int, bool]:
    if os.path.isdir(SELF_FD):  # giving the file its name later goes through it
        try:
            return os.open(b".", os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, NEW_FILE, dir_fd=dir_fd), False
        except OSError as exc:
            if exc.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL):
                raise
    return os.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, NEW_FILE, dir_fd=dir_fd), True
