"""A log on disk that keeps the newest bytes: segments, truly bounded, with the count of what was dropped.

One writer, any number of readers in other processes; a reader that stalls costs nothing. Two streams (stdout, stderr)
share one sequence of bytes: a cursor is an absolute byte offset in it, from the first byte ever written. What is
written must be valid UTF-8 at each call (see `Utf8`), so that pages never split a character.

On disk: `<offset of the first byte>.seg` holds the bytes; `.idx` beside it holds 8-byte entries, one where the stream
changes: the offset in the segment shifted left by one, plus the stream. The entry is written before its bytes, so that
a reader that knows the size of the data knows the stream of each byte. Standard library only: the shim imports this.
"""

from __future__ import annotations

import bisect
import contextlib
import os
import struct
from dataclasses import dataclass

STDOUT, STDERR = 0, 1
SEGMENTS = 8  # the newest 7/10 of the capacity at least are kept
ENTRY = struct.Struct("=Q")
MAX_PAGE = 65536  # bytes
_CONTINUATION, _LEAD = 0x80, 0xC0


@dataclass(frozen=True, slots=True)
class Piece:
    """Neighbouring bytes of one stream."""

    stream: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Page:
    """What a reader gets. `start` is later than the cursor asked for when the ring has dropped bytes (`truncated`)."""

    start: int
    end: int  # the next cursor
    total: int  # bytes ever written
    truncated: bool
    pieces: tuple[Piece, ...]

    @property
    def has_more(self) -> bool:
        """Whether more can be read at once."""
        return self.end < self.total


class Utf8:
    """Incremental decoding of one stream: bytes in, valid UTF-8 out; an incomplete tail waits for its rest."""

    def __init__(self) -> None:
        self._tail = b""

    def feed(self, data: bytes) -> bytes:
        """The longest valid text so far; invalid bytes become U+FFFD."""
        data = self._tail + data if self._tail else data
        cut = len(data) - _incomplete(data)
        self._tail = data[cut:]
        return _valid(data[:cut])

    def end(self) -> bytes:
        """What is left at the end of the stream."""
        tail, self._tail = self._tail, b""
        return _valid(tail)


def _valid(data: bytes) -> bytes:
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace").encode()
    return data


def _incomplete(data: bytes) -> int:
    """How many bytes at the end may be the start of a character (0 to 3)."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != _CONTINUATION:
            need = 2 if byte & 0xE0 == _LEAD else 3 if byte & 0xF0 == 0xE0 else 4 if byte & 0xF8 == 0xF0 else 1  # noqa: PLR2004 - the lead bytes of UTF-8
            return back if need > back else 0
    return 0


class Writer:
    """The one writer. Files appear with the first byte."""

    def __init__(self, directory: str, capacity: int) -> None:
        """`capacity` in bytes bounds data and index together (an index entry is made only where the stream changes)."""
        self._directory = directory
        self._segment_size = max(capacity * 4 // (5 * SEGMENTS), 1024)
        self._index_limit = self._segment_size // 4
        self._kept: list[int] = []
        self._data_fd = self._index_fd = -1
        self._stream = -1
        self._used = self._entries = 0
        self.total = 0

    @property
    def dropped(self) -> int:
        """Bytes that are gone."""
        return self._kept[0] if self._kept else self.total

    def write(self, stream: int, data: bytes) -> None:
        """Append valid UTF-8. Raises OSError (a full disk)."""
        view = memoryview(data)
        while view:
            if self._data_fd < 0 or self._used >= self._segment_size or self._entries * ENTRY.size >= self._index_limit:
                self._rotate()
            if stream != self._stream:
                os.write(self._index_fd, ENTRY.pack(self._used << 1 | stream))
                self._stream = stream
                self._entries += 1
            room = _cut(view, self._segment_size - self._used)
            written = os.write(self._data_fd, view[:room])
            self._used += written
            self.total += written
            view = view[written:]

    def _rotate(self) -> None:
        self.close()
        name = os.path.join(self._directory, f"{self.total:016x}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        self._index_fd = os.open(name + ".idx", flags, 0o600)
        self._data_fd = os.open(name + ".seg", flags, 0o600)
        self._kept.append(self.total)
        self._used = self._entries = 0
        self._stream = -1
        while len(self._kept) > SEGMENTS:
            remove(self._directory, self._kept.pop(0))

    def close(self) -> None:
        """Close the files; the log stays readable."""
        for handle in (self._data_fd, self._index_fd):
            if handle >= 0:
                os.close(handle)
        self._data_fd = self._index_fd = -1


def _cut(view: memoryview, limit: int) -> int:
    """At most `limit` bytes, ending between characters where that is possible (limit >= 4)."""
    if len(view) <= limit:
        return len(view)
    cut = limit
    while cut > 0 and view[cut] & 0xC0 == _CONTINUATION:
        cut -= 1
    return cut or min(len(view), 4)  # a character that does not fit goes over the segment's size as a whole


def remove(directory: str, base: int) -> None:
    """Forget one segment. The data goes first: a reader never sees bytes without their index."""
    for suffix in (".seg", ".idx"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(directory, f"{base:016x}{suffix}"))


def read(directory: str, cursor: int, limit: int = MAX_PAGE) -> Page:
    """At most `limit` bytes from `cursor` on, whole characters, in order. A log that does not exist reads as empty.

    A cursor past the end reads as the end. The ring may drop a segment while this reads: then it starts again.
    """
    while True:
        try:
            return _read(directory, max(cursor, 0), max(limit, 4))
        except FileNotFoundError:
            if not os.path.isdir(directory):
                return Page(0, 0, 0, False, ())


def size(directory: str) -> tuple[int, int]:
    """(oldest byte kept, bytes ever written)."""
    bases = _bases(directory)
    if not bases:
        return (0, 0)
    last = os.path.join(directory, f"{bases[-1]:016x}.seg")
    return (bases[0], bases[-1] + os.stat(last).st_size)


def _bases(directory: str) -> list[int]:
    try:
        names = os.listdir(directory)
    except FileNotFoundError:
        return []
    return sorted(int(name[:16], 16) for name in names if name.endswith(".seg"))


def _read(directory: str, cursor: int, limit: int) -> Page:
    bases = _bases(directory)
    if not bases:
        return Page(0, 0, 0, False, ())
    total = bases[-1] + os.stat(os.path.join(directory, f"{bases[-1]:016x}.seg")).st_size
    start = min(max(cursor, bases[0]), total)
    truncated = cursor < bases[0]
    pieces: list[Piece] = []
    position = start
    number = max(bisect.bisect_right(bases, position) - 1, 0)
    while position < total and position - start < limit and number < len(bases):
        chunk = _segment(directory, bases[number], position - bases[number], limit - (position - start))
        for piece in chunk:
            position += len(piece.data)
            if pieces and pieces[-1].stream == piece.stream:
                pieces[-1] = Piece(piece.stream, pieces[-1].data + piece.data)
            else:
                pieces.append(piece)
        number += 1
    position = _trim(pieces, position)
    return Page(start, position, max(total, position), truncated, tuple(pieces))


def _segment(directory: str, base: int, offset: int, limit: int) -> list[Piece]:
    name = os.path.join(directory, f"{base:016x}")
    handle = os.open(name + ".seg", os.O_RDONLY | os.O_CLOEXEC)
    try:
        data = os.pread(handle, limit, offset)
    finally:
        os.close(handle)
    if not data:
        return []
    with open(name + ".idx", "rb", buffering=0) as file:
        raw = file.read()
    entries = [entry for (entry,) in ENTRY.iter_unpack(raw[: len(raw) // ENTRY.size * ENTRY.size])]
    pieces: list[Piece] = []
    at = bisect.bisect_right(entries, offset << 1 | 1) - 1
    done = 0
    while done < len(data) and at < len(entries):
        end = (entries[at + 1] >> 1) - offset if at + 1 < len(entries) else len(data)
        part = data[done : max(done, end)]
        if part:
            pieces.append(Piece(entries[at] & 1, part))
            done += len(part)
        at += 1
    return pieces


def _trim(pieces: list[Piece], position: int) -> int:
    """Take an incomplete character off the end of the page. Only a full page, or a write in progress, has one."""
    if not pieces:
        return position
    last = pieces[-1]
    cut = _incomplete(last.data)
    if not cut:
        return position
    if cut == len(last.data):
        pieces.pop()
    else:
        pieces[-1] = Piece(last.stream, last.data[:-cut])
    return position - cut
