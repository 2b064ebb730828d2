"""Matching lines of one open file: what both engines report. Blocking; runs in a worker thread.

A file with a zero byte anywhere is binary and has no matches; UTF-16 with a byte order mark is text. Both are ripgrep's rules too.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable
from dataclasses import dataclass

from handrail.api.files.search.linear import Linear
from handrail.kit.text import SAMPLE, decode
from handrail.kit.walk import Stop

WINDOW = 8 << 20  # bytes searched at a time
CONTEXT_BYTES = 1 << 16  # looked at on either side of a match for its context lines
MAX_LINE = 2000  # characters of a line that are reported
MAX_LINES = 100  # of one match across lines that are reported
MAX_WIDE = 64 << 20  # bytes of a UTF-16 file, which is decoded whole


@dataclass(frozen=True, slots=True)
class Hit:
    """One matching line, or the lines of a match across several. `line` counts from 1; a line of a text is cut at MAX_LINE characters."""

    line: int
    text: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    @property
    def last(self) -> int:
        """The last line of the match."""
        return self.line + self.text.count("\n")


Fetch = Callable[[int, int], bytes]  # (offset, length) -> bytes


def search_file(fd: int, size: int, pattern: Linear, *, limit: int, context: int, stop: Stop, multiline: bool = False) -> list[Hit]:
    """The first `limit` matching lines. Raises OSError when the file cannot be read."""
    head = os.pread(fd, min(size, WINDOW) + 1, 0)
    whole = len(head) <= WINDOW
    wide = _wide(head)
    if wide is not None:
        data = (head if whole else _whole(fd)).decode(wide, "replace").removeprefix("\ufeff").encode("utf-8", "replace")
        return _Scan(pattern, _slices(data), "utf-8", limit, context, multiline=multiline).run(data, len(data), stop)
    skip = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
    if whole:
        data = head[skip:]
        return _Scan(pattern, _slices(data), "", limit, context, multiline=multiline).run(data, len(data), stop)

    def fetch(offset: int, length: int) -> bytes:
        return os.pread(fd, length, offset + skip)

    return _Scan(pattern, fetch, "", limit, context, multiline=multiline).run(head[skip:], size - skip, stop)


def _wide(head: bytes) -> str | None:
    if head.startswith(codecs.BOM_UTF32_LE):
        return None
    if head.startswith(codecs.BOM_UTF16_LE):
        return "utf-16-le"
    return "utf-16-be" if head.startswith(codecs.BOM_UTF16_BE) else None


def _whole(fd: int) -> bytes:
    chunks: list[bytes] = []
    offset = 0
    while offset < MAX_WIDE and (chunk := os.pread(fd, WINDOW, offset)):
        chunks.append(chunk)
        offset += len(chunk)
    return b"".join(chunks)


def _slices(data: bytes) -> Fetch:
    return lambda offset, length: data[offset : offset + length]


class _Scan:
    def __init__(self, pattern: Linear, fetch: Fetch, encoding: str, limit: int, context: int, *, multiline: bool) -> None:
        self.pattern = pattern
        self.fetch = fetch
        self.encoding = encoding
        self.limit = limit
        self.context = context
        self.multiline = multiline
        self.hits: list[Hit] = []
        self.size = 0
        self.line = 1  # of the start of the window

    def run(self, first: bytes, size: int, stop: Stop) -> list[Hit]:
        """Window after window, each cut after its last line feed."""
        self.size = size
        offset, data = 0, first
        while data and not stop:
            if b"\0" in data:
                return []
            cut = len(data)
            if offset + cut < size:
                cut = data.rfind(b"\n") + 1 or cut
                data = data[:cut]
            if len(self.hits) < self.limit:
                self.window(data, offset)
            self.line += data.count(b"\n")
            offset += cut
            data = self.fetch(offset, WINDOW) if offset < size else b""
        return self.hits

    def window(self, data: bytes, offset: int) -> None:
        position, line, counted = 0, self.line, 0
        while position <= len(data) and len(self.hits) < self.limit:
            found = self.pattern.search(data, position)
            if found is None or (found[0] == len(data) and (not data or data.endswith(b"\n"))):
                return
            start = data.rfind(b"\n", 0, found[0]) + 1
            # a match across lines ends on the line of its last character
            end = data.find(b"\n", max(found[0], found[1] - 1) if self.multiline else found[0])
            end = len(data) if end < 0 else end
            line += data.count(b"\n", counted, start)
            counted = start
            if not self.hits or self.hits[-1].last < line:
                before, after = self.around(data, offset, start, end) if self.context else ((), ())
                self.hits.append(Hit(line, self.shown(data[start:end]), before, after))
            position = end + 1

    def around(self, data: bytes, offset: int, start: int, end: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The lines before and after; what lies beyond the window is fetched."""
        before = _lines_before(data, start, self.context)
        if len(before) < self.context and offset:
            from_offset = max(0, offset + start - CONTEXT_BYTES)
            fetched = self.fetch(from_offset, offset + start - from_offset).split(b"\n")[:-1]
            before = (fetched[1:] if from_offset else fetched)[-self.context :]  # the first may be cut
        after = _lines_after(data, end, self.context)
        if len(after) < self.context and offset + len(data) < self.size:
            fetched = self.fetch(offset + end + 1, CONTEXT_BYTES).split(b"\n")
            after = (fetched if fetched[-1] else fetched[:-1])[: self.context]
        return tuple(self.show(text) for text in before), tuple(self.show(text) for text in after)

    def shown(self, raw: bytes) -> str:
        """The line, or the first MAX_LINES lines."""
        if not self.multiline:
            return self.show(raw)
        return "\n".join(self.show(line) for line in raw.split(b"\n", MAX_LINES)[:MAX_LINES])

    def show(self, raw: bytes) -> str:
        raw = raw[: MAX_LINE * 4 + 4].removesuffix(b"\r")
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            text = raw.decode(self.legacy(), "replace")
        return text if len(text) <= MAX_LINE else text[:MAX_LINE] + "…"

    def legacy(self) -> str:
        if not self.encoding:
            found = decode(self.fetch(0, SAMPLE))
            self.encoding = "utf-8" if found.binary else found.encoding
        return self.encoding


def _lines_before(data: bytes, start: int, count: int) -> list[bytes]:
    lines: list[bytes] = []
    end = start - 1  # the line feed before the line
    while end >= 0 and len(lines) < count:
        begin = data.rfind(b"\n", 0, end) + 1
        lines.append(data[begin:end])
        end = begin - 1
    return lines[::-1]


def _lines_after(data: bytes, end: int, count: int) -> list[bytes]:
    lines: list[bytes] = []
    begin = end + 1
    while begin < len(data) and len(lines) < count:
        end = data.find(b"\n", begin)
        end = len(data) if end < 0 else end
        lines.append(data[begin:end])
        begin = end + 1
    return lines
