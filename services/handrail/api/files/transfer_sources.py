"""What a download sends: a file, or several as one archive. Blocking; each source owns its descriptors."""

from __future__ import annotations

import hashlib
import mimetypes
import os
import stat
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from handrail.api.files.transfer_errors import NothingSelected, TooManyEntries
from handrail.kit import names, zipstream
from handrail.kit.errors import FileError, UnsupportedTarget
from handrail.kit.paths import Location, Scope
from handrail.kit.walk import Found, Stop, location_of, walk
from handrail.kit.zipstream import Member, MemberChanged

PIECE = 1 << 20  # bytes
MAX_PATHS = 10_000
MAX_ENTRIES = 50_000
PLAN_S = 60.0  # for the names of an archive
UNKNOWN_TYPE = "application/octet-stream"


class Source(Protocol):
    """A body whose length is known. `pieces` raises MemberChanged when the disk cannot keep the promise; `close` may come at any time."""

    name: str
    mime: str
    size: int
    etag: str  # "" when there is none
    kind: str  # the wire's "file", "directory", "archive"
    skipped: int

    def pieces(self, start: int, end: int) -> Iterator[bytes]: ...
    def close(self) -> None: ...


class FileSource:
    """One regular file, held open."""

    kind = "file"
    skipped = 0

    def __init__(self, scope: Scope, location: Location) -> None:
        self._fd, info = scope.open_file(location)
        self._lock = threading.Lock()
        self.name = location.name
        self.mime = mimetypes.guess_type(location.name)[0] or UNKNOWN_TYPE
        self.size = info.st_size
        identity = f"{info.st_dev}.{info.st_ino}.{info.st_size}.{info.st_mtime_ns}.{info.st_ctime_ns}"
        self.etag = f'"{hashlib.sha256(identity.encode()).hexdigest()[:32]}"'

    def pieces(self, start: int, end: int) -> Iterator[bytes]:
        """Bytes `start` up to, not including, `end`."""
        while start < end:
            data = self._read(min(PIECE, end - start), start)
            if not data:
                raise MemberChanged(self.name)
            start += len(data)
            yield data

    def _read(self, size: int, offset: int) -> bytes:
        # the lock: a descriptor that is closed under a read could be somebody else's file by then
        with self._lock:
            return os.pread(self._fd, size, offset) if self._fd >= 0 else b""

    def close(self) -> None:
        with self._lock:
            if self._fd >= 0:
                os.close(self._fd)
            self._fd = -1


class ArchiveSource:
    """Several paths as a zip archive. Files are opened one after the other, through the resolver, when their turn comes."""

    mime = "application/zip"
    etag = ""

    def __init__(self, scope: Scope, locations: Sequence[Location], *, name: str, kind: str) -> None:
        """Raises TooManyEntries, and what a path is refused with."""
        self.name = name
        self.kind = kind
        self._scope = scope
        self.members, self.skipped = _plan(scope, locations)
        self.size = zipstream.length(self.members)
        self._closed = False

    def pieces(self, start: int, end: int) -> Iterator[bytes]:
        """The whole archive; a range of it is not supported."""
        if (start, end) != (0, self.size):
            raise ValueError("an archive is sent whole")
        for piece in zipstream.stream(self.members, self._open):
            if self._closed:
                return
            yield piece

    def _open(self, member: Member) -> _Open:
        try:
            return _Open(self._scope.open_file(_place(member))[0])
        except FileError as exc:
            raise MemberChanged(member.name) from exc

    def close(self) -> None:
        self._closed = True


class _Open:
    def __init__(self, fd: int) -> None:
        self._fd = fd

    def read(self, size: int, /) -> bytes:
        return os.read(self._fd, size)

    def close(self) -> None:
        os.close(self._fd)


@dataclass(frozen=True, slots=True)
class _Key:
    """Where a member lies, in few bytes: an archive may have many."""

    start: Location
    below: bytes


def _place(member: Member) -> Location:
    key = member.key
    if not isinstance(key, _Key):
        raise TypeError("a member of ours has a key")
    return key.start.child(key.below) if key.below else key.start


def open_source(scope: Scope, texts: Sequence[str], *, now: float, several: bool) -> Source:
    """The source for the wire's `path` or `paths`. Raises NothingSelected, FileMissing, OutOfBounds, ..."""
    if not texts or len(texts) > MAX_PATHS:
        raise NothingSelected(limit=MAX_PATHS)
    locations = [scope.locate(text) for text in texts]
    first = locations[0]
    if several:
        stamp = (
            datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z").replace(":", "-").replace(".", "-")
        )
        return ArchiveSource(scope, locations, name=f"workspace_{stamp}.zip", kind="archive")
    if stat.S_ISDIR(scope.stat(first).st_mode):
        return ArchiveSource(scope, locations, name=f"{first.name}.zip", kind="directory")
    return FileSource(scope, first)


def _plan(scope: Scope, locations: Sequence[Location]) -> tuple[list[Member], int]:
    """Every entry of the archive, and how many were left out (links to directories or outside, pipes, sockets, devices)."""
    chosen = _without_covered(locations)
    bases = _bases(chosen)
    members: list[Member] = []
    skipped = 0
    stop = Stop(PLAN_S)
    for location in chosen:
        name = _safe(bases(location))
        info = scope.stat(location)
        if stat.S_ISREG(info.st_mode):
            _add(members, Member(name, info.st_size, info.st_mtime, info.st_mode & 0o777, _Key(location, b"")))
            continue
        if not stat.S_ISDIR(info.st_mode):
            raise UnsupportedTarget(location.path)
        _add(members, Member(f"{name}/", 0, info.st_mtime, info.st_mode & 0o777))
        for found in walk(scope, location, stop, enter=lambda _: True):
            member = _member(scope, location, name, found)
            if member is None:
                skipped += 1
            else:
                _add(members, member)
    if stop.hit:
        raise TooManyEntries(limit=MAX_ENTRIES)
    return members, skipped


def _add(members: list[Member], member: Member) -> None:
    if len(members) >= MAX_ENTRIES:
        raise TooManyEntries(limit=MAX_ENTRIES)
    members.append(member)


def _member(scope: Scope, start: Location, name: str, found: Found) -> Member | None:
    shown = f"{name}/{_safe(names.to_text(found.relative))}"
    try:
        if found.is_link:
            info = scope.stat(location_of(start, found))
        else:
            info = os.stat(found.relative.rpartition(b"/")[2], dir_fd=found.dir_fd, follow_symlinks=False)
    except (OSError, FileError):
        return None
    if found.is_dir:
        return Member(f"{shown}/", 0, info.st_mtime, info.st_mode & 0o777)
    if not stat.S_ISREG(info.st_mode):
        return None
    return Member(shown, info.st_size, info.st_mtime, info.st_mode & 0o777, _Key(start, found.relative))


def _safe(name: str) -> str:
    # some readers take a backslash for a separator
    return name.replace("\\", "\uf05c")


def _without_covered(locations: Sequence[Location]) -> list[Location]:
    """Each place once, and nothing that lies below another one of them."""
    chosen: list[Location] = []
    for location in sorted(locations, key=lambda place: place.path + "/"):
        if not chosen or not f"{location.path}/".startswith(f"{chosen[-1].path}/"):
            chosen.append(location)
    return chosen


class _bases:  # noqa: N801 - used like a function
    """Names in the archive: relative to what all chosen places have in common, so that nothing collides and nothing is lost."""

    def __init__(self, chosen: Sequence[Location]) -> None:
        roots = {location.root.path for location in chosen}
        self._common = os.path.commonpath([location.path.rpartition("/")[0] or "/" for location in chosen]) if len(roots) == 1 else None
        self._prefix: dict[str, str] = {}
        for root in sorted(roots):
            base, number = root.rpartition("/")[2], 1
            while base in self._prefix.values():
                number += 1
                base = f"{root.rpartition('/')[2]}-{number}"
            self._prefix[root] = base

    def __call__(self, location: Location) -> str:
        if self._common is not None:
            return location.path[len(self._common.rstrip("/")) + 1 :]
        below = names.to_text(location.relative)
        return f"{self._prefix[location.root.path]}/{below}" if below else self._prefix[location.root.path]
