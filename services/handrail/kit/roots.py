"""An allowed directory, opened once: its identity is device, inode and mount, not its name."""

from __future__ import annotations

import os
import stat
import weakref
from typing import Literal

from handrail.kit import openat2
from handrail.kit.errors import FileError, NotADirectory, OutOfBounds, RootChanged, from_os

State = Literal["active", "changed", "missing"]
KERNEL = ("/proc", "/sys", "/dev")


class Root:
    """A directory held open. The descriptor is closed when nobody uses the Root any more."""

    __slots__ = ("__weakref__", "_finalizer", "dev", "fd", "ino", "mount", "path", "raw")

    def __init__(self, path: str) -> None:
        """Open the absolute `path`. Raises FileError when it is no directory, or belongs to the kernel (/proc, /sys, /dev)."""
        self.path = os.path.normpath(path)
        self.raw = os.fsencode(self.path)
        if not self.path.startswith("/") or self.path == "/" or any(f"{self.path}/".startswith(f"{kernel}/") for kernel in KERNEL):
            raise OutOfBounds(path)
        try:
            self.fd = os.open(self.raw, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError as exc:
            raise RootChanged(path) from exc
        except OSError as exc:
            raise from_os(exc, path) from exc
        self._finalizer = weakref.finalize(self, os.close, self.fd)
        info = os.fstat(self.fd)
        self.dev, self.ino = info.st_dev, info.st_ino
        self.mount = self._mount(path)
        if openat2.is_pseudo(self.fd):
            raise OutOfBounds(path)

    def check(self) -> None:
        """Raises RootChanged when the path no longer leads to the directory that was opened."""
        if self.state() != "active":
            raise RootChanged(self.path)

    def state(self) -> State:
        """Whether the path still leads to the very directory, on the very mount, that was opened."""
        try:
            now = openat2.identity(self.raw)
        except OSError:
            return "missing"
        return "active" if now == (self.dev, self.ino, self.mount) else "changed"

    def _mount(self, path: str) -> int:
        """The mount of the opened directory. Raises RootChanged when another one has taken its place already."""
        try:
            now = openat2.identity(self.raw)
        except OSError as exc:
            raise RootChanged(path) from exc
        if (now.dev, now.ino) != (self.dev, self.ino):
            raise RootChanged(path)
        return now.mount

    def relative(self, path: str) -> str | None:
        """The part of an absolute normalised path below this root ("" for the root itself), or None when it is elsewhere."""
        if path == self.path:
            return ""
        prefix = self.path + "/"
        return path[len(prefix) :] if path.startswith(prefix) else None


def open_root(path: str) -> Root:
    """A Root for a directory that exists. Raises NotADirectory or another FileError."""
    if not stat.S_ISDIR(_stat(path).st_mode):
        raise NotADirectory(path)
    return Root(path)


def _stat(path: str) -> os.stat_result:
    try:
        return os.stat(path)
    except FileNotFoundError as exc:
        raise RootChanged(path) from exc
    except OSError as exc:
        raise from_os(exc, path) from exc


__all__ = ["FileError", "Root", "open_root"]
