"""Is this zip archive safe to unpack? Looked at before anything is unpacked: counts, sizes, names, kinds; then by really inflating it."""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from dataclasses import dataclass
from typing import IO, Literal

TAIL = 65557  # bytes in which the end record lies: itself and the longest comment
ENCRYPTED = 0x1
CHUNK = 1 << 16
METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
Problem = Literal["not_zip", "entries", "size", "ratio", "name", "link", "encrypted", "method", "depth"]


class UnsafeArchive(Exception):
    """Why the archive is refused; `problem` is stable."""

    def __init__(self, problem: Problem) -> None:
        self.problem: Problem = problem
        super().__init__(problem)


@dataclass(frozen=True, slots=True)
class Caps:
    """What is taken at most. `ratio` counts for members of more than 1 MiB; sizes in bytes."""

    entries: int = 10_000
    total: int = 256 << 20
    ratio: int = 300
    depth: int = 32


def check(file: IO[bytes], caps: Caps) -> list[zipfile.ZipInfo]:
    """The members, when what the archive says of itself is within the caps. Raises UnsafeArchive. Inflates nothing."""
    members = directory(file, caps)
    if len(members) > caps.entries:
        raise UnsafeArchive("entries")
    seen: set[str] = set()
    total = 0
    for member in members:
        _member(member, caps)
        total += member.file_size
        key = member.filename.rstrip("/").casefold()
        if key in seen:
            raise UnsafeArchive("name")  # two readers would see two different files
        seen.add(key)
    if total > caps.total:
        raise UnsafeArchive("size")
    return members


def inflate(file: IO[bytes], members: list[zipfile.ZipInfo], caps: Caps) -> None:
    """Read every member to its end, keeping nothing: sizes that were a lie are found here. Raises UnsafeArchive."""
    total = 0
    try:
        with zipfile.ZipFile(file) as archive:
            for member in members:
                if member.is_dir():
                    continue
                with archive.open(member) as source:
                    while data := source.read(CHUNK):
                        total += len(data)
                        if total > caps.total:
                            raise UnsafeArchive("size")
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, RuntimeError, zlib.error, OSError) as exc:
        raise UnsafeArchive("not_zip") from exc


def directory(file: IO[bytes], caps: Caps) -> list[zipfile.ZipInfo]:
    """What the archive says of itself, only its number of entries looked at. Raises UnsafeArchive. Nothing may be unpacked by it."""
    _count(file, caps)
    try:
        with zipfile.ZipFile(file) as archive:
            return archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, struct.error, OSError) as exc:
        raise UnsafeArchive("not_zip") from exc


def _count(file: IO[bytes], caps: Caps) -> None:
    """The number of entries by the end record, before a directory of a million names is read into memory."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - TAIL))
    tail = file.read(TAIL)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < 22:  # noqa: PLR2004 - the end record
        raise UnsafeArchive("not_zip")
    entries, directory = struct.unpack_from("<HI", tail, at + 10)
    at64 = tail.rfind(b"PK\x06\x06", 0, at)
    if at64 >= 0 and len(tail) - at64 >= 56:  # noqa: PLR2004 - the zip64 end record
        entries, directory = struct.unpack_from("<QQ", tail, at64 + 32)
    # what the record claims may be a lie too: so many names do not fit into fewer bytes
    if entries > caps.entries or directory > caps.entries * 1024:
        raise UnsafeArchive("entries")


def _member(member: zipfile.ZipInfo, caps: Caps) -> None:
    name = member.filename
    parts = name.replace("\\", "/").split("/")
    if (
        not name
        or name.startswith(("/", "\\"))
        or ".." in parts
        or (len(name) > 1 and name[1] == ":")
        or "\0" in (member.orig_filename or "")
    ):
        raise UnsafeArchive("name")
    if len(parts) > caps.depth:
        raise UnsafeArchive("depth")
    mode = member.external_attr >> 16
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise UnsafeArchive("link")
    if member.flag_bits & ENCRYPTED:
        raise UnsafeArchive("encrypted")
    if member.compress_type not in METHODS:
        raise UnsafeArchive("method")
    if member.file_size > caps.total:
        raise UnsafeArchive("size")
    if member.file_size > 1 << 20 and member.file_size > member.compress_size * caps.ratio:
        raise UnsafeArchive("ratio")
