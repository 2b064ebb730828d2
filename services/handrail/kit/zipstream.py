"""A zip archive as a stream whose length is known before its first byte, in memory that does not depend on its size.

Entries are deflated in stored blocks (RFC 1951, 3.2.4): no compression, so the length follows from the sizes, and still a
method whose end a reader sees by itself, so the checksum may follow the data (APPNOTE 4.3.9) and each file is read once.
Zip64 fields are there where a number needs them and nowhere else.
"""

from __future__ import annotations

import struct
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from handrail.kit.errors import FileError

BLOCK = 65535  # bytes of a stored block at most
READ = 16 * BLOCK  # bytes a piece of the stream
MAX32, MAX16 = 0xFFFFFFFF, 0xFFFF
DEFLATED, STORED = 8, 0
FLAGS_NAME, FLAGS_DATA = 0x0800, 0x0808  # UTF-8 name; and sizes after the data
NEEDS_20, NEEDS_45, MADE_BY_UNIX = 20, 45, 3 << 8
DIRECTORY_MODE, FILE_MODE = 0o040755, 0o100644


@dataclass(frozen=True, slots=True)
class Member:
    """One entry. `name` uses `/` and ends with it for a directory; `size` in bytes; `mtime` in s; `key` is for whoever opens it."""

    name: str
    size: int
    mtime: float
    mode: int  # permission bits
    key: object = None

    @property
    def is_dir(self) -> bool:
        return self.name.endswith("/")

    @property
    def packed(self) -> int:
        """Bytes of the deflated form."""
        return 0 if self.is_dir else self.size + 5 * max(1, -(-self.size // BLOCK))

    @property
    def large(self) -> bool:
        return self.packed > MAX32


class Readable(Protocol):
    """An open member."""

    def read(self, size: int, /) -> bytes: ...
    def close(self) -> None: ...


class MemberChanged(FileError):
    """A file became shorter, or went away, after the archive's length had been promised."""

    code = "changed_while_sent"
    status = 409
    en = "The file changed while it was being sent: {path}"
    zh = "文件在传输过程中发生了变化：{path}"


def length(members: Iterable[Member]) -> int:
    """Bytes of the whole archive."""
    offset = central = count = 0
    for member in members:
        name = len(member.name.encode())
        central += 46 + name + len(_extra64(member, offset))
        offset += 30 + name + (20 if member.large else 0) + member.packed + _descriptor_length(member)
        count += 1
    return offset + central + len(_end(count, central, offset))


def stream(members: Sequence[Member], opener: Callable[[Member], Readable]) -> Iterator[bytes]:
    """The archive in pieces of at most about 1 MiB. Raises MemberChanged, and what `opener` raises."""
    offset = 0
    sums: list[tuple[int, int]] = []  # offset, CRC
    for member in members:
        start = offset
        head = _local(member)
        yield head
        checksum = 0
        if not member.is_dir:
            source = opener(member)
            try:
                for data, last in _pieces(source, member):
                    checksum = zlib.crc32(data, checksum)
                    yield _stored(data, last=last)
            finally:
                source.close()
            yield _descriptor(member, checksum)
        offset += len(head) + member.packed + _descriptor_length(member)
        sums.append((start, checksum))
    size = 0
    for member, (start, checksum) in zip(members, sums, strict=True):
        entry = _central(member, start, checksum)
        size += len(entry)
        yield entry
    yield _end(len(members), size, offset)


def _pieces(source: Readable, member: Member) -> Iterator[tuple[bytes, bool]]:
    """Exactly `member.size` bytes; a file that grew is cut where it was."""
    left = member.size
    while True:
        data = source.read(min(READ, left)) if left else b""
        while data and len(data) < min(READ, left):  # blocks must be full for the length to be right
            more = source.read(min(READ, left) - len(data))
            if not more:
                break
            data += more
        if len(data) < min(READ, left):
            raise MemberChanged(member.name)
        left -= len(data)
        yield data, not left
        if not left:
            return


def _stored(data: bytes, *, last: bool) -> bytes:
    out = bytearray()
    for start in range(0, max(len(data), 1), BLOCK):
        block = data[start : start + BLOCK]
        final = last and start + BLOCK >= len(data)
        out += struct.pack("<BHH", final, len(block), len(block) ^ MAX16) + block
    return bytes(out)


def _local(member: Member) -> bytes:
    name = member.name.encode()
    extra = struct.pack("<HHQQ", 1, 16, 0, 0) if member.large else b""
    size = MAX32 if member.large else 0
    needs = NEEDS_45 if member.large else NEEDS_20
    flags, method = (FLAGS_NAME, STORED) if member.is_dir else (FLAGS_DATA, DEFLATED)
    return (
        struct.pack("<IHHHIIIIHH", 0x04034B50, needs, flags, method, _when(member.mtime), 0, size, size, len(name), len(extra))
        + name
        + extra
    )


def _descriptor(member: Member, checksum: int) -> bytes:
    return struct.pack("<IIQQ" if member.large else "<IIII", 0x08074B50, checksum, member.packed, member.size)


def _descriptor_length(member: Member) -> int:
    return 0 if member.is_dir else 24 if member.large else 16


def _extra64(member: Member, offset: int) -> bytes:
    values = [member.size, member.packed] if member.large else []
    if offset > MAX32:
        values.append(offset)
    return struct.pack(f"<HH{len(values)}Q", 1, 8 * len(values), *values) if values else b""


def _central(member: Member, offset: int, checksum: int) -> bytes:
    name, extra = member.name.encode(), _extra64(member, offset)
    size, packed = (MAX32, MAX32) if member.large else (member.size, member.packed)
    needs = NEEDS_45 if extra else NEEDS_20
    flags, method = (FLAGS_NAME, STORED) if member.is_dir else (FLAGS_DATA, DEFLATED)
    kind = DIRECTORY_MODE & ~0o777 if member.is_dir else FILE_MODE & ~0o777
    attributes = (kind | (member.mode & 0o777)) << 16 | (0x10 if member.is_dir else 0)
    head = struct.pack("<IHHHHIIII", 0x02014B50, MADE_BY_UNIX | needs, needs, flags, method, _when(member.mtime), checksum, packed, size)
    tail = struct.pack("<HHHHHII", len(name), len(extra), 0, 0, 0, attributes, min(offset, MAX32))
    return head + tail + name + extra


def _end(count: int, size: int, offset: int) -> bytes:
    """The end records: `size` bytes of central directory begin at `offset`."""
    out = b""
    if count >= MAX16 or offset >= MAX32 or size >= MAX32:
        out = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, MADE_BY_UNIX | NEEDS_45, NEEDS_45, 0, 0, count, count, size, offset)
        out += struct.pack("<IIQI", 0x07064B50, 0, offset + size, 1)
    few = min(count, MAX16)
    return out + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, few, few, min(size, MAX32), min(offset, MAX32), 0)


def _when(mtime: float) -> int:
    """DOS time and date (local time, 2 s steps, 1980 to 2107) as the 32-bit number of both fields."""
    year, month, day, hour, minute, second = time.localtime(max(0.0, min(mtime, 4_354_819_198.0)))[:6]
    if year < 1980:  # noqa: PLR2004 - where DOS time begins
        year, month, day, hour, minute, second = 1980, 1, 1, 0, 0, 0
    return ((year - 1980) << 9 | month << 5 | day) << 16 | hour << 11 | minute << 5 | second // 2
