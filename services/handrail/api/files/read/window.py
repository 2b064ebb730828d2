"""A window of lines of a text file of any size, in constant memory. Blocking.

Lines end at LF; what is shown of them, encoded again, is exactly what is in the file, so that reading can go on at any
byte that an answer names. Only pieces of the file are ever held.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from dataclasses import dataclass

from handrail.kit.text import SAMPLE, Encoding, decode, mark_of
from handrail.kit.walk import Stop

CHUNK = 1 << 20  # bytes looked at at a time
WHOLE = 4 << 20  # bytes of a file that is looked at whole to tell its encoding
NUMBER = 8  # bytes that the number of a line takes
COUNT_SECONDS = 10.0  # of counting the lines of a huge file
_LAST_RESORT = frozenset({"binary", "latin-1", "windows-1252"})  # what text with a cut last character looks like
WIDTH: dict[str, int] = {"utf-16-le": 2, "utf-16-be": 2, "utf-32-le": 4, "utf-32-be": 4}


class NotAnOffset(ValueError):
    """The byte offset lies outside of the line or inside of a character."""


@dataclass(frozen=True, slots=True)
class Window:
    """Lines `first`..`last` as (number, text); `cut` when the last one is not shown to its end, which is at byte `offset` of it."""

    lines: tuple[tuple[int, str], ...]
    encoding: Encoding
    bom: bool
    total: int | None  # lines of the file; None when counting them took too long
    more: bool
    cut: bool
    next_line: int
    next_offset: int
    lossy: bool  # some bytes are no text in this encoding and are shown as U+FFFD


@dataclass(frozen=True, slots=True)
class _File:
    fd: int
    size: int
    encoding: Encoding
    skip: int  # bytes of the byte order mark

    @property
    def width(self) -> int:
        return WIDTH.get(self.encoding, 1)

    @property
    def feed(self) -> bytes:
        return "\n".encode(self.encoding)

    def chunks(self, start: int) -> Iterator[tuple[int, bytes]]:
        while start < self.size and (data := os.pread(self.fd, CHUNK, start)):
            yield start, data
            start += len(data)

    def count(self, data: bytes) -> int:
        """Line feeds in a chunk that begins at a character."""
        return data.count(b"\n") if self.width == 1 else data.decode(self.encoding, "replace").count("\n")

    def find(self, data: bytes, start: int) -> int:
        """The next line feed that is one: on a boundary of the encoding's units."""
        at = data.find(self.feed, start)
        while at >= 0 and at % self.width:
            at = data.find(self.feed, at + 1)
        return at


def detect(fd: int, size: int) -> tuple[Encoding, bool]:
    """Encoding and byte order mark: of the whole of a small file, of the beginning of a larger one."""
    if size <= WHOLE:
        found = decode(os.pread(fd, WHOLE, 0))
        return found.encoding, found.bom
    sample = os.pread(fd, SAMPLE, 0)
    if b"\0" not in sample and (end := sample.rfind(b"\n") + 1):
        sample = sample[:end]  # no character is cut: a line feed is never a part of one
    found = [decode(sample[: len(sample) - cut]) for cut in range(4)]
    best = next((one for one in found if one.encoding not in _LAST_RESORT), found[0])
    return best.encoding, best.bom


def read(fd: int, size: int, *, start: int, limit: int, offset: int, room: int) -> Window | None:
    """At most `limit` lines and `room` bytes (as UTF-8) from byte `offset` of line `start` on; None for a binary file.

    Raises NotAnOffset.
    """
    encoding, bom = detect(fd, size)
    if encoding == "binary":
        return None
    file = _File(fd, size, encoding, len(mark_of(encoding)) if bom else 0)
    begin, total = _line_start(file, start)
    if begin is None:
        return Window((), encoding, bom, total, more=False, cut=False, next_line=start, next_offset=0, lossy=False)
    if offset:
        _check_offset(file, begin, offset)
    raw = os.pread(fd, (room + NUMBER) * 4, begin + offset)
    if encoding == "utf-8" and size > WHOLE and not _valid(raw):  # the beginning was plain ASCII, this is not
        later = decode(raw[: SAMPLE - 4])
        if not later.binary and not later.bom:
            file = _File(fd, size, later.encoding, 0)
    whole = begin + offset + len(raw) >= size
    lines, used, cut = _lines(_decoded(file, raw, final=whole), limit, room, whole=whole)
    taken = _size(file, used)
    last = start + len(lines) - 1
    return Window(
        lines=tuple((number, _shown(line)) for number, line in enumerate(lines, start)),
        encoding=file.encoding,
        bom=bom,
        total=_total(file, start - 1, begin),
        more=begin + offset + taken < size,
        cut=cut,
        next_line=last if cut else last + 1,
        next_offset=(offset if last == start else 0) + _size(file, lines[-1]) if cut else 0,
        lossy=any(_shown(line) != line for line in lines),
    )


def _decoded(file: _File, raw: bytes, *, final: bool) -> str:
    """What cannot be decoded is kept as lone surrogates, so that it can be measured."""
    decoder = codecs.getincrementaldecoder(file.encoding)
    try:
        return decoder("surrogateescape" if file.width == 1 else "replace").decode(raw, final=final)
    except UnicodeDecodeError:  # a byte below 128 in a broken character
        return decoder("replace").decode(raw, final=final)


def _lines(text: str, limit: int, room: int, *, whole: bool) -> tuple[list[str], str, bool]:
    """(lines, the text that they are, whether the last is cut); `whole`: the text goes to the end of the file."""
    lines: list[str] = []
    position = 0
    while position < len(text) and len(lines) < limit:
        end = text.find("\n", position) + 1 or len(text)
        line = text[position:end]
        size = len(line.encode("utf-8", "replace")) + NUMBER
        if size > room or (end == len(text) and not line.endswith("\n") and not whole):
            if not lines:  # whole lines only, unless the first is too long
                line = _head(line, room - NUMBER)
                return [line], line, True
            break
        lines.append(line)
        position = end
        room -= size
    return lines, text[:position], False


def _head(line: str, room: int) -> str:
    """As many whole characters as fit into `room` bytes of UTF-8, at least one."""
    for count, char in enumerate(line):
        room -= len(char.encode("utf-8", "replace"))
        if room < 0:
            return line[: max(count, 1)]
    return line


def _size(file: _File, text: str) -> int:
    """Bytes of the text in the file."""
    return len(text.encode(file.encoding, "surrogateescape"))


def _shown(line: str) -> str:
    return line if line.isascii() else line.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _valid(raw: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(raw)
    except UnicodeDecodeError:
        return False
    return True


def _line_start(file: _File, line: int) -> tuple[int | None, int]:
    """The byte where the line begins; None and how many lines there are when the file has fewer."""
    left, last = line - 1, b""
    if not left:
        return file.skip, 0
    for start, data in file.chunks(file.skip):
        count = file.count(data)
        last = data
        if count < left:
            left -= count
            continue
        at = -1
        for _ in range(left):
            at = file.find(data, at + 1)
        begin = start + at + file.width
        return (begin, 0) if begin < file.size else (None, line - 1)
    return None, line - 1 - left + (bool(last) and not last.endswith(file.feed))


def _check_offset(file: _File, begin: int, offset: int) -> None:
    """The skipped bytes must be whole characters of the one line."""
    if begin + offset >= file.size:
        raise NotAnOffset
    decoder = codecs.getincrementaldecoder(file.encoding)("replace")
    for start, data in file.chunks(begin):
        part = data[: begin + offset - start]
        if "\n" in decoder.decode(part):
            raise NotAnOffset
        if start + len(data) >= begin + offset:
            break
    if decoder.getstate()[0]:
        raise NotAnOffset


def _total(file: _File, before: int, begin: int) -> int | None:
    """Lines of the file, of which `before` end before byte `begin`."""
    stop = Stop(COUNT_SECONDS)
    total, last = before, b""
    for _, data in file.chunks(begin):
        if stop:
            return None
        total += file.count(data)
        last = data
    return total + (bool(last) and not last.endswith(file.feed))
