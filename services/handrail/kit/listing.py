"""Entries of a directory. One odd entry never fails the whole list."""

from __future__ import annotations

import contextlib
import os
import stat
from typing import Literal, NamedTuple

from handrail.kit import names
from handrail.kit.errors import DirectoryMissing, FileError, FileMissing, from_os
from handrail.kit.files import is_temporary
from handrail.kit.paths import Location, Scope

Kind = Literal["file", "directory", "unknown"]


class Entry(NamedTuple):
    """One entry. `mtime` in ms; a link shows what it leads to if that is inside, else kind "unknown"."""

    name: str
    kind: Kind
    size: int  # bytes
    mtime: float
    is_link: bool = False
    odd_name: bool = False  # bytes that are no text are shown as U+F701..U+F7FF


def kind_of(mode: int) -> Kind:
    """What the wire calls a type of file."""
    if stat.S_ISREG(mode):
        return "file"
    return "directory" if stat.S_ISDIR(mode) else "unknown"


def list_directory(scope: Scope, location: Location) -> list[Entry]:
    """All entries, hidden ones too, sorted by name. Raises DirectoryMissing, NotADirectory, ..."""
    try:
        fd = scope.open_directory(location)
    except FileMissing as exc:
        raise DirectoryMissing(location.path) from exc
    out: list[Entry] = []
    try:
        with os.scandir(fd) as entries:
            for entry in entries:
                name = names.shown(entry.name)
                odd = name is not entry.name and name != entry.name
                if name[0] == "." and is_temporary(name):
                    continue
                try:
                    info = entry.stat(follow_symlinks=False)
                except OSError:  # it went away, or the file system cannot say
                    if _exists(entry.name, fd):
                        out.append(Entry(name, "unknown", 0, 0.0, odd_name=odd))
                    continue
                mode = info.st_mode
                if stat.S_ISLNK(mode):
                    out.append(_link(scope, location.child(os.fsencode(entry.name)), info, odd_name=odd))
                else:
                    out.append(Entry(name, kind_of(mode), info.st_size, info.st_mtime * 1000.0, False, odd))
    except OSError as exc:
        raise from_os(exc, location.path) from exc
    finally:
        os.close(fd)
    out.sort(key=_by_name)
    return out


def _by_name(entry: Entry) -> str:
    return entry.name


def _link(scope: Scope, location: Location, info: os.stat_result, *, odd_name: bool) -> Entry:
    with contextlib.suppress(FileError):
        target = scope.stat(location)
        return Entry(location.name, kind_of(target.st_mode), target.st_size, target.st_mtime * 1000.0, is_link=True, odd_name=odd_name)
    return Entry(location.name, "unknown", info.st_size, info.st_mtime * 1000.0, is_link=True, odd_name=odd_name)


def _exists(name: str, fd: int) -> bool:
    try:
        os.stat(name, dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return True
