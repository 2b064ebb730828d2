"""Bytes of a text file to text and back without loss: byte order marks, UTF-8, UTF-16/32, Chinese and Japanese, Latin.

What is decoded here can be encoded again to exactly the same bytes (`lossy` says when not). Detection is: byte order
mark, then valid UTF-8, then UTF-16 without a mark by its zero bytes, then the legacy encoding whose decoded characters
are the most usual ones (`kit.charsets`).
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Literal

from handrail.kit.charsets import best_legacy

Encoding = Literal[
    "utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "gb18030", "big5", "shift_jis", "windows-1252", "latin-1", "binary"
]
# the longer marks first: the one of UTF-32-LE begins with that of UTF-16-LE
MARKS: tuple[tuple[bytes, Encoding], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
SAMPLE = 1 << 16  # bytes looked at to tell binary from text and one legacy encoding from another
_TEXT_CONTROL = frozenset(b"\t\n\v\f\r\x08\x1b")
_CONTROL = bytes(sorted(set(range(32)) - _TEXT_CONTROL)) + b"\x7f"
MAX_CONTROL_SHARE = 0.02  # of control characters in text without zero bytes


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text of a file. `encode(text, encoding, bom)` gives the file's bytes again unless `lossy`."""

    text: str
    encoding: Encoding
    bom: bool = False
    lossy: bool = False

    @property
    def binary(self) -> bool:
        """Whether the bytes are no text in any encoding known here."""
        return self.encoding == "binary"


def decode(data: bytes) -> Decoded:
    """Detect and decode; never raises. Binary data is shown as UTF-8 with replacement characters and is `lossy`."""
    if data[:1] not in _FIRST_OF_MARK and b"\0" not in data:
        try:
            return Decoded(data.decode("utf-8"), "utf-8")
        except UnicodeDecodeError:
            pass
    for mark, encoding in MARKS:
        if data.startswith(mark):
            found = _strict(data[len(mark) :], encoding, bom=True)
            if found is not None:
                return found
    if b"\0" in data:
        return _utf16_without_mark(data) or _binary(data)
    return _strict(data, "utf-8") or _legacy(data)


def encode(text: str, encoding: Encoding, *, bom: bool = False) -> bytes:
    """The bytes of `text`. Raises UnicodeEncodeError when the encoding has no such character, ValueError for "binary"."""
    if encoding == "binary":
        raise ValueError("binary data has no text form")
    body = text.encode(encoding)
    return _MARK_OF[encoding] + body if bom else body


_MARK_OF = {encoding: mark for mark, encoding in MARKS}
_FIRST_OF_MARK = frozenset(mark[:1] for mark, _ in MARKS)


def mark_of(encoding: Encoding) -> bytes:
    """The byte order mark of an encoding that has one."""
    return _MARK_OF[encoding]


def has_mark(head: bytes) -> bool:
    """Whether the first bytes of a file are a byte order mark."""
    return any(head.startswith(mark) for mark, _ in MARKS)


def _strict(data: bytes, encoding: Encoding, *, bom: bool = False) -> Decoded | None:
    """Decoded if it is valid and goes back to the same bytes."""
    try:
        text = data.decode(encoding)
        if encoding != "utf-8" and text.encode(encoding) != data:
            return None
    except UnicodeError:
        return None
    return Decoded(text, encoding, bom)


def _utf16_without_mark(data: bytes) -> Decoded | None:
    """UTF-16 text of which a good part is ASCII has its zero bytes on one side only."""
    sample = data[:SAMPLE]
    if len(data) % 2:
        return None
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if odd > half * 0.3 and even <= odd // 20:
        found = _strict(data, "utf-16-le")
    elif even > half * 0.3 and odd <= even // 20:
        found = _strict(data, "utf-16-be")
    else:
        return None
    return found if found is not None and "\0" not in found.text and not _mostly_control(found.text.encode()[:SAMPLE]) else None


def _legacy(data: bytes) -> Decoded:
    if _mostly_control(data[:SAMPLE]):
        return _binary(data)
    for encoding in best_legacy(data[:SAMPLE]):
        found = _strict(data, encoding)
        if found is not None:
            return found
    return _binary(data)


def _mostly_control(sample: bytes) -> bool:
    return len(sample) - len(sample.translate(None, _CONTROL)) > len(sample) * MAX_CONTROL_SHARE


def _binary(data: bytes) -> Decoded:
    try:
        return Decoded(data.decode("utf-8"), "binary")  # valid UTF-8 with zero bytes: shown whole, still no text
    except UnicodeDecodeError:
        return Decoded(data.decode("utf-8", "replace"), "binary", lossy=True)
