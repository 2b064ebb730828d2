"""The one path resolver: what a caller wrote -> a place beneath an allowed root -> operations on descriptors.

Text is resolved first (`names.absolute`), then matched to a root by whole components, then everything happens relative
to the root's open descriptor: by openat2(RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS), and by `component_walk` where that
is missing or cannot decide. Links that stay inside are followed, links that leave are refused. Operations on an entry
itself (stat, delete, rename, move) never follow its last component.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from handrail.kit import names, openat2
from handrail.kit.component_walk import LeavesRoots, ReachesProtected, Spot, walk
from handrail.kit.errors import FileError, NotAFile, OutOfBounds, ProtectedPath, RootItself, UnsupportedTarget, from_os
from handrail.kit.roots import Root

READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
HANDLE = os.O_PATH | os.O_CLOEXEC
_CACHE = 2048  # located texts kept per scope; cleared when full
_FALL_BACK = frozenset({errno.EXDEV, errno.ELOOP, errno.EAGAIN, errno.ENOSYS, errno.EPERM})


@dataclass(frozen=True, slots=True)
class Location:
    """A place below a root, not yet looked at. `path` is absolute text, `relative` the bytes below the root (b"" = the root)."""

    root: Root
    relative: bytes
    path: str

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    def child(self, name: bytes) -> Location:
        """The entry `name` of this directory."""
        return Location(self.root, self.relative + b"/" + name if self.relative else name, f"{self.path}/{names.to_text(name)}")


class Scope:
    """The roots that one workspace may touch: its work directory and the extra directories."""

    def __init__(self, roots: Sequence[Root], *, home: str, protected: Sequence[str] = (), use_openat2: bool | None = None) -> None:
        """`roots[0]` is the work directory. `protected` directories are refused wherever they are met.

        `use_openat2` False forces the component walk; None asks the kernel.
        """
        self.workdir = roots[0]
        self.home = home
        self.roots = tuple(sorted(roots, key=lambda root: len(root.path), reverse=True))  # the longest match owns a path
        self._folded = tuple(os.path.normpath(path).casefold() for path in protected)
        self.protected = frozenset(identity for path in protected if (identity := _identity(path)) is not None)
        holds = any(folded.startswith(root.path.casefold() + "/") for folded in self._folded for root in roots)
        fast = openat2.available() if use_openat2 is None else use_openat2
        self._fast = fast and not holds  # openat2 alone cannot see that a link leads into a protected directory
        self._located: dict[str, Location] = {}

    # --- text ---

    def locate(self, text: object) -> Location:
        """What `text` means. Raises InvalidPath, OutOfBounds, ProtectedPath. Looks at no file."""
        if isinstance(text, str):
            known = self._located.get(text)
            if known is not None:
                return known
        path = names.absolute(text, workdir=self.workdir.path, home=self.home)
        self.refuse_protected(path)
        location = self._match(path)
        if location is None:
            raise OutOfBounds(str(text))
        if isinstance(text, str):
            if len(self._located) >= _CACHE:
                self._located.clear()
            self._located[text] = location
        return location

    def _match(self, path: str) -> Location | None:
        for root in self.roots:
            relative = root.relative(path)
            if relative is not None:
                return Location(root, names.to_bytes(relative), path)
        return None

    def refuse_protected(self, path: str) -> None:
        """Raises ProtectedPath when `path` lies in a protected directory, whatever the case of its letters."""
        if self._folded:
            folded = path.casefold()
            for protected in self._folded:
                if folded.startswith(protected) and (len(folded) == len(protected) or folded[len(protected)] == "/"):
                    raise ProtectedPath(path)

    def refuse_holder(self, location: Location) -> None:
        """For operations that take an entry away. Raises RootItself for a root or what holds one, ProtectedPath likewise."""
        folded = location.path.casefold() + "/"
        if not location.relative or any(root.path.startswith(location.path + "/") for root in self.roots):
            raise RootItself(location.path)
        if any(protected.startswith(folded) for protected in self._folded):
            raise ProtectedPath(location.path)

    # --- descriptors ---

    def open_at(self, location: Location, flags: int) -> int:
        """A descriptor of the entry, final link followed. Raises FileError. The caller closes it."""
        location.root.check()
        if self._fast:
            try:
                return openat2.open_beneath(location.root.fd, location.relative or b".", flags)
            except OSError as exc:
                if exc.errno not in _FALL_BACK:
                    raise from_os(exc, location.path) from exc
        with self._spot(location, follow=True) as spot:
            try:
                return os.open(spot.name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=spot.dir_fd)
            except OSError as exc:
                raise from_os(exc, location.path) from exc

    def open_file(self, location: Location) -> tuple[int, os.stat_result]:
        """A regular file open for reading; pipes, devices and sockets are refused at once. The caller closes it."""
        fd = self.open_at(location, READ)
        try:
            info = os.fstat(fd)
            _refuse_odd(fd, info, location)
        except BaseException:
            os.close(fd)
            raise
        return fd, info

    def open_directory(self, location: Location) -> int:
        """A directory open for reading its entries. Raises NotADirectory, FileMissing, ... The caller closes it."""
        fd = self.open_at(location, DIRECTORY)
        try:
            if os.fstat(fd).st_dev != location.root.dev:
                _refuse_pseudo(fd, location)
        except BaseException:
            os.close(fd)
            raise
        return fd

    @contextmanager
    def entry(self, location: Location, *, follow: bool = False) -> Generator[Spot]:
        """The open parent directory and the name of the entry, which may be missing. Raises FileError (FileMissing: no parent).

        Without `follow` the last component is taken as it is, link or not.
        """
        location.root.check()
        if follow or not self._fast or not location.relative:
            with self._spot(location, follow=follow) as spot:
                yield spot
            return
        head, _, name = location.relative.rpartition(b"/")
        try:
            fd = openat2.open_beneath(location.root.fd, head or b".", HANDLE | os.O_DIRECTORY)
        except OSError as exc:
            if exc.errno not in _FALL_BACK:
                raise from_os(exc, location.path) from exc
            with self._spot(location, follow=False) as spot:
                yield spot
            return
        try:
            yield Spot(location.root, (*head.split(b"/"), name) if head else (name,), fd, name)
        finally:
            os.close(fd)

    def lstat(self, location: Location) -> os.stat_result:
        """The entry itself, link or not. Raises FileMissing."""
        with self.entry(location) as spot:
            try:
                return os.stat(spot.name, dir_fd=spot.dir_fd, follow_symlinks=False)
            except OSError as exc:
                raise from_os(exc, location.path) from exc

    def stat(self, location: Location) -> os.stat_result:
        """What a link leads to, if that is inside. Raises FileMissing, OutOfBounds."""
        fd = self.open_at(location, HANDLE)
        try:
            return os.fstat(fd)
        finally:
            os.close(fd)

    @contextmanager
    def _spot(self, location: Location, *, follow: bool) -> Generator[Spot]:
        try:
            spot = walk(location.root, location.relative, self.roots, self.protected, follow_last=follow)
        except LeavesRoots as exc:
            raise OutOfBounds(location.path) from exc
        except ReachesProtected as exc:
            raise ProtectedPath(location.path) from exc
        except OSError as exc:
            raise from_os(exc, location.path) from exc
        try:
            self.refuse_protected(names.to_text(b"/".join((spot.root.raw, *spot.parts))))
            yield spot
        finally:
            spot.close()


def _refuse_odd(fd: int, info: os.stat_result, location: Location) -> None:
    if not stat.S_ISREG(info.st_mode):
        raise NotAFile(location.path) if stat.S_ISDIR(info.st_mode) else UnsupportedTarget(location.path)
    if info.st_dev != location.root.dev:
        _refuse_pseudo(fd, location)


def _refuse_pseudo(fd: int, location: Location) -> None:
    if openat2.is_pseudo(fd):
        raise UnsupportedTarget(location.path)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino


__all__ = ["FileError", "Location", "Root", "Scope", "Spot"]
