"""Walking a tree below an open directory: sorted, never through a link, stoppable."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from handrail.kit import names, openat2
from handrail.kit.clock import SYSTEM, Clock
from handrail.kit.errors import DirectoryMissing, FileError, FileMissing
from handrail.kit.files import is_temporary
from handrail.kit.ignore import NAMES, Ignore
from handrail.kit.paths import Location, Scope

MAX_DEPTH = 128  # levels below the start; deeper directories are left out
_DIR = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Stop:
    """Ends a long walk: at a deadline or when somebody asks. `hit` says whether it did."""

    def __init__(self, seconds: float, clock: Clock = SYSTEM) -> None:
        self._clock = clock
        self._until = clock.monotonic() + seconds
        self._asked = threading.Event()
        self.hit = False

    def now(self) -> None:
        """Ask for the end, from any thread."""
        self._asked.set()

    def __bool__(self) -> bool:
        self.hit = self.hit or self._asked.is_set() or self._clock.monotonic() >= self._until
        return self.hit


@dataclass(frozen=True, slots=True)
class Found:
    """An entry met on the way. `dir_fd` is valid until the walk goes on."""

    relative: bytes  # to the start of the walk
    name: str  # as Python decodes it
    dir_fd: int
    depth: int  # 1 = directly in the start
    is_dir: bool
    is_file: bool
    is_link: bool


def walk(
    scope: Scope, start: Location, stop: Stop, *, enter: Callable[[str], bool], depth: int = MAX_DEPTH, ignore: bool = False
) -> Iterator[Found]:
    """Everything below the directory `start`, depth first, by name (bytes); a directory comes before what is in it.

    `enter` says for the name of a directory whether it is part of the walk at all. Protected directories and kernel file systems never are.
    With `ignore`, neither is what the ignore files say, those above `start` too; `start` itself was asked for.
    What cannot be read is left out. Raises DirectoryMissing, NotADirectory, OutOfBounds for the start itself.
    """
    try:
        fd = scope.open_directory(start)
    except FileMissing as exc:
        raise DirectoryMissing(start.path) from exc
    yield from _Walk(scope, stop, enter, depth).below(fd, b"", 1, *(rules_above(scope, start) if ignore else (None, ())))


def rules_above(scope: Scope, start: Location) -> tuple[Ignore, tuple[str, ...]]:
    """The ignore rules of the directories above `start`, and the names that lead to it from the top."""
    rules, at = Ignore(), Location(start.root, b"", start.root.path)
    parts = start.relative.split(b"/") if start.relative else []
    for depth, part in enumerate(parts):
        rules = rules_in(scope, at, rules, depth)
        at = at.child(part)
    return rules, tuple(part.decode(NAMES) for part in parts)


def rules_in(scope: Scope, directory: Location, above: Ignore, depth: int) -> Ignore:
    """The ignore rules in force in a directory; those above it when it cannot be opened."""
    try:
        fd = scope.open_directory(directory)
    except FileError:
        return above
    try:
        return above.enter(fd, depth)
    finally:
        os.close(fd)


@dataclass(frozen=True, slots=True)
class _Walk:
    scope: Scope
    stop: Stop
    enter: Callable[[str], bool]
    depth: int

    def below(self, fd: int, prefix: bytes, level: int, above: Ignore | None, names_above: tuple[str, ...]) -> Iterator[Found]:
        """What is in the directory and below it. Takes over `fd`."""
        scope, stop, enter, depth = self.scope, self.stop, self.enter, self.depth
        try:
            rules = above.enter(fd, len(names_above)) if above is not None else None
            for raw, entry in _sorted(fd):
                if stop:
                    return
                name, is_link = entry.name, entry.is_symlink()
                is_dir = not is_link and _is_dir(entry)
                if is_temporary(name) or (is_dir and not enter(name)):
                    continue
                path = (*names_above, raw.decode(NAMES)) if rules is not None else ()
                if rules is not None and rules.ignored(path, is_dir=is_dir):
                    continue
                child = _enter(scope, fd, raw) if is_dir else None
                if is_dir and child is None:
                    continue
                try:
                    yield Found(prefix + raw, name, fd, level, is_dir, not is_link and not is_dir and _is_file(entry), is_link)
                except BaseException:
                    if child is not None:
                        os.close(child)
                    raise
                if child is not None:
                    if level < depth:
                        yield from self.below(child, prefix + raw + b"/", level + 1, rules, path)
                    else:
                        os.close(child)
        finally:
            os.close(fd)


def _sorted(fd: int) -> list[tuple[bytes, os.DirEntry[str]]]:
    try:
        with os.scandir(fd) as entries:
            return sorted(((os.fsencode(entry.name), entry) for entry in entries), key=_first)
    except OSError:
        return []


def _first(pair: tuple[bytes, object]) -> bytes:
    return pair[0]


def _is_dir(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file(follow_symlinks=False)
    except OSError:
        return False


def _enter(scope: Scope, fd: int, raw: bytes) -> int | None:
    """The directory open, or None when it is not to be seen (gone, unreadable, protected, a kernel file system)."""
    try:
        child = os.open(raw, _DIR, dir_fd=fd)
    except OSError:
        return None
    info = os.fstat(child)
    if (info.st_dev, info.st_ino) in scope.protected or (info.st_dev != os.fstat(fd).st_dev and openat2.is_pseudo(child)):
        os.close(child)
        return None
    return child


def open_found(found: Found) -> tuple[int, os.stat_result] | None:
    """A regular file of the walk open for reading, or None when it is none (any more). The caller closes it."""
    try:
        fd = os.open(
            found.relative.rpartition(b"/")[2],
            os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC,
            dir_fd=found.dir_fd,
        )
    except OSError:
        return None
    info = os.fstat(fd)
    if stat.S_ISREG(info.st_mode):
        return fd, info
    os.close(fd)
    return None


def location_of(start: Location, found: Found) -> Location:
    """Where a found entry is."""
    relative = start.relative + b"/" + found.relative if start.relative else found.relative
    return Location(start.root, relative, f"{start.path}/{names.to_text(found.relative)}")
