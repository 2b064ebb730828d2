"""Reading whole files within a limit, and replacing them atomically."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass

from handrail.kit.component_walk import Spot
from handrail.kit.errors import AlreadyExists, FileMissing, NotAFile, StaleFile, TooLarge, UnsupportedTarget, from_os
from handrail.kit.locks import entry_lock
from handrail.kit.paths import Location, Scope
from handrail.kit.pending import TEMP_PREFIX, TEMP_SUFFIX, Pending
from handrail.kit.versions import FileVersion

NEW_DIRECTORY = 0o777
CHUNK = 1 << 20  # bytes a read


@dataclass(frozen=True, slots=True)
class Version:
    """What tells two states of a file apart without reading it. Times in ns."""

    dev: int
    ino: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, info: os.stat_result) -> Version:
        return cls(info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)


@dataclass(frozen=True, slots=True)
class Written:
    """The outcome of a write."""

    size: int  # bytes
    created: bool
    version: Version


def read_open(fd: int, info: os.stat_result, limit: int, path: str) -> bytes:
    """All bytes of an open regular file. Raises TooLarge for more than `limit` bytes, also when it grows meanwhile."""
    if info.st_size > limit:
        raise TooLarge(path, size=info.st_size, limit=limit)
    try:
        data = os.read(fd, min(info.st_size, CHUNK) + 1)
        if len(data) <= info.st_size and len(data) <= CHUNK:
            return data  # a short read of a regular file is its end
        chunks, total = [data], len(data)
        while data and total <= limit:
            data = os.read(fd, min(CHUNK, limit + 1 - total))
            chunks.append(data)
            total += len(data)
    except OSError as exc:
        raise from_os(exc, path) from exc
    if total > limit:
        raise TooLarge(path, size=total, limit=limit)
    return b"".join(chunks)


def read(scope: Scope, location: Location, limit: int) -> tuple[bytes, os.stat_result]:
    """Bytes and fstat of a regular file."""
    fd, info = scope.open_file(location)
    try:
        return read_open(fd, info, limit, location.path), info
    finally:
        os.close(fd)


def write(
    scope: Scope,
    location: Location,
    data: bytes,
    *,
    parents: bool = True,
    expect: Version | FileVersion | None = None,
    exclusive: bool = False,
) -> Written:
    """Replace or create a file in one step: a reader sees the old bytes or the new ones, after a crash too.

    A final link inside the roots is followed, so the link stays a link. An existing file keeps its mode and owner; a new one has no
    execute bit. With `expect` the file must still be that version, with `exclusive` it must not exist.
    Raises NotAFile, UnsupportedTarget, StaleFile, AlreadyExists, FileMissing (no parent and not `parents`), NoSpace, ...
    """
    if parents:
        make_parents(scope, location)
    with scope.entry(location, follow=True) as spot, entry_lock(spot):
        if spot.name == b".":
            raise NotAFile(location.path)
        old = existing(spot, location.path)
        if old is not None and exclusive:
            raise AlreadyExists(location.path)
        if expect is not None and (old is None or not _is_still(expect, spot, old)):
            raise StaleFile(location.path)
        try:
            info = _replace(spot, data, old, exclusive=exclusive)
        except OSError as exc:
            raise from_os(exc, location.path) from exc
    return Written(len(data), old is None, Version.of(info))


def _is_still(expect: Version | FileVersion, spot: Spot, old: os.stat_result) -> bool:
    return expect.is_at(spot, old) if isinstance(expect, FileVersion) else Version.of(old) == expect


def remove(scope: Scope, location: Location, expect: FileVersion) -> None:
    """Take a regular file away for good if it still is that version (what a failed step made). Raises StaleFile, FileMissing."""
    with scope.entry(location) as spot, entry_lock(spot):
        old = existing(spot, location.path)
        if old is None or not expect.is_at(spot, old):
            raise StaleFile(location.path)
        os.unlink(spot.name, dir_fd=spot.dir_fd)


def make_parents(scope: Scope, location: Location) -> None:
    """Create the missing directories above `location`, each beneath the root. Raises FileError."""
    head = location.relative.rpartition(b"/")[0]
    if not head:
        return
    parent = Location(location.root, head, location.path.rpartition("/")[0])
    missing: list[Location] = []
    while parent.relative:
        try:
            info = scope.stat(parent)
        except FileMissing:
            missing.append(parent)
            parent = Location(parent.root, parent.relative.rpartition(b"/")[0], parent.path.rpartition("/")[0])
            continue
        if not stat.S_ISDIR(info.st_mode):
            raise from_os(OSError(errno.ENOTDIR, ""), parent.path)
        break
    for directory in reversed(missing):
        make_directory(scope, directory, exist_ok=True)


def make_directory(scope: Scope, location: Location, *, exist_ok: bool = False) -> None:
    """One directory; its parent must exist. Raises AlreadyExists, FileMissing."""
    with scope.entry(location) as spot:
        try:
            os.mkdir(spot.name, NEW_DIRECTORY, dir_fd=spot.dir_fd)
        except FileExistsError as exc:
            if not exist_ok:
                raise AlreadyExists(location.path) from exc
        except OSError as exc:
            raise from_os(exc, location.path) from exc


def is_temporary(name: str) -> bool:
    """Whether a name is one of our unfinished writes (left only by a kill between two system calls)."""
    return name.startswith(TEMP_PREFIX) and name.endswith(TEMP_SUFFIX)


def existing(spot: Spot, path: str) -> os.stat_result | None:
    """The regular file that a write would replace, or None. Raises NotAFile, UnsupportedTarget."""
    try:
        info = os.stat(spot.name, dir_fd=spot.dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise from_os(exc, path) from exc
    if stat.S_ISDIR(info.st_mode):
        raise NotAFile(path)
    if not stat.S_ISREG(info.st_mode):
        # a link here was swapped in after it had been resolved
        raise UnsupportedTarget(path)
    return info


def _replace(spot: Spot, data: bytes, old: os.stat_result | None, *, exclusive: bool) -> os.stat_result:
    pending = Pending(spot.dir_fd)
    try:
        pending.write(data)
        pending.settle(old)
        return pending.publish(spot, new=old is None, exclusive=exclusive)
    finally:
        pending.close()
