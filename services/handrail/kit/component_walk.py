"""Resolution by hand: one component at a time, never following what was not looked at.

It decides where openat2 cannot (absolute links that stay inside, links between two allowed roots, roots that hold the
protected directory) and replaces it where the kernel lacks it. Each component is opened with O_PATH | O_NOFOLLOW
relative to the descriptor of its parent, so a swap between look and use cannot lead outside.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass

from handrail.kit.roots import Root

MAX_LINKS = 40  # as the kernel
_STEP = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
Identity = tuple[int, int]  # device, inode


class LeavesRoots(Exception):
    """A link leads out of every allowed root."""


class ReachesProtected(Exception):
    """A step enters the protected directory."""


@dataclass(slots=True)
class Spot:
    """Where a path ends: the open directory that holds the last component. `name` is "." for the root itself."""

    root: Root
    parts: tuple[bytes, ...]  # from the root to the entry, free of links (the last may be one, or be missing)
    dir_fd: int  # owned by whoever asked
    name: bytes

    def close(self) -> None:
        os.close(self.dir_fd)


class _Walk:
    def __init__(self, root: Root, roots: Sequence[Root], protected: frozenset[Identity], *, follow_last: bool) -> None:
        self.roots = roots
        self.protected = protected
        self.follow_last = follow_last
        self.links = 0
        self.fds: list[int] = []
        self.enter(root)

    def enter(self, root: Root) -> None:
        self.close()
        self.root = root
        self.parts: list[bytes] = []
        self.fds = [os.dup(root.fd)]

    def close(self) -> None:
        for fd in self.fds:
            os.close(fd)
        self.fds = []

    def go(self, pending: list[bytes]) -> Spot:
        """`pending` is in reverse order: the next component is its last."""
        while pending:
            name = pending.pop()
            if name in (b"", b"."):
                continue
            if name == b"..":
                self.up(pending)
                continue
            if not pending and not self.follow_last:
                return self.end(name)
            spot = self.step(name, pending)
            if spot is not None:
                return spot
        if not self.parts:
            return self.end(b".")
        os.close(self.fds.pop())
        return self.end(self.parts.pop())

    def step(self, name: bytes, pending: list[bytes]) -> Spot | None:
        try:
            fd = os.open(name, _STEP, dir_fd=self.fds[-1])
        except FileNotFoundError:
            if pending:
                raise
            return self.end(name)
        try:
            info = os.fstat(fd)
            if stat.S_ISLNK(info.st_mode):
                self.follow(os.readlink(b"", dir_fd=fd), pending)
                return None
            if stat.S_ISDIR(info.st_mode):
                if (info.st_dev, info.st_ino) in self.protected:
                    raise ReachesProtected
                if pending:
                    self.parts.append(name)
                    self.fds.append(os.dup(fd))
                    return None
            elif pending:
                raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            return self.end(name)
        finally:
            os.close(fd)

    def end(self, name: bytes) -> Spot:
        parts = tuple(self.parts) if name == b"." else (*self.parts, name)
        return Spot(self.root, parts, self.fds.pop(), name)

    def up(self, pending: list[bytes]) -> None:
        if self.parts:
            self.parts.pop()
            os.close(self.fds.pop())
        else:
            self.relocate(os.path.dirname(self.root.raw), pending)

    def follow(self, target: bytes, pending: list[bytes]) -> None:
        self.links += 1
        if self.links > MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if target.startswith(b"/"):
            self.relocate(target, pending)
        else:
            pending.extend(reversed(target.split(b"/")))

    def relocate(self, start: bytes, pending: list[bytes]) -> None:
        """Go on from an absolute place, if it lies in a root again; what is between is never opened."""
        path = b"/" + os.path.normpath(b"/".join((start, *reversed(pending)))).lstrip(b"/")
        for root in self.roots:
            if path == root.raw or path.startswith(root.raw + b"/"):
                self.enter(root)
                pending[:] = reversed(path[len(root.raw) :].split(b"/"))
                return
        raise LeavesRoots


def walk(root: Root, relative: bytes, roots: Sequence[Root], protected: frozenset[Identity], *, follow_last: bool) -> Spot:
    """Resolve `relative` below `root`; links may lead anywhere within `roots` (longest path first).

    The entry itself may be missing, its parent may not. With `follow_last` a final link is followed.
    Raises LeavesRoots, ReachesProtected, or OSError (ENOENT, ENOTDIR, ELOOP, EACCES).
    """
    state = _Walk(root, roots, protected, follow_last=follow_last)
    try:
        return state.go(relative.split(b"/")[::-1])
    finally:
        state.close()
