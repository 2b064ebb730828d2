"""File names as text and back, and the rules for a path that a caller wrote. Pure.

Linux names are bytes. A control character, and a byte that is not part of valid UTF-8, is shown as one character of the private
range U+F701..U+F7FF (U+F700 + byte), and the same character in a path means that byte again. Names that hold such
characters in valid UTF-8 are taken apart byte by byte, so that the mapping stays one to one.
"""

from __future__ import annotations

import os
import re

from handrail.kit.errors import CONTROL, DOT_NAME, EMPTY, NOT_TEXT, NOT_UNICODE, SEPARATOR, TOO_LONG, InvalidName, InvalidPath

PATH_MAX = 4095  # bytes, Linux
NAME_MAX = 255  # bytes of one component
ESCAPE = 0xF700
_ESCAPED = re.compile("[\uf701-\uf71f\uf77f-\uf7ff]")
_CONTROL = re.compile("[\x00-\x1f\x7f]")
_ODD = re.compile("[\x01-\x1f\x7f\udc80-\udcff\uf701-\uf71f\uf77f-\uf7ff]")


def to_bytes(text: str) -> bytes:
    """The bytes of a name or path that `to_text` showed, or of ordinary text. Raises InvalidPath for lone surrogates."""
    try:
        if text.isascii() or not _ESCAPED.search(text):
            return text.encode()
        return b"".join(bytes([ord(char) - ESCAPE]) if _ESCAPED.match(char) else char.encode() for char in text)
    except UnicodeEncodeError as exc:
        raise InvalidPath("", reason=NOT_UNICODE) from exc


def to_text(raw: bytes) -> str:
    """A name or path as text that JSON and a terminal can carry; `to_bytes(to_text(raw)) == raw` for every `raw` without NUL."""
    return shown(raw.decode("utf-8", "surrogateescape"))


def shown(name: str) -> str:
    """`to_text` for a name that Python decoded itself (`os.scandir`)."""
    return name if name.isprintable() and name.isascii() else _ODD.sub(_escape, name)


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    return "".join(chr(byte + ESCAPE) for byte in char.encode("utf-8", "surrogateescape"))


def absolute(text: object, *, workdir: str, home: str) -> str:
    """An absolute path without `.`, `..` or double slashes, resolved as text only: `~` is `home`, relative is below `workdir`.

    Nothing is trimmed and no Unicode form is changed: a path names exactly the bytes it says.
    Raises InvalidPath for what is no text, empty, longer than PATH_MAX bytes, or holds NUL or another control character.
    """
    if not isinstance(text, str):
        raise InvalidPath("", reason=NOT_TEXT)
    if not text:
        raise InvalidPath("", reason=EMPTY)
    if len(text) > PATH_MAX:
        raise InvalidPath("", reason=TOO_LONG)
    if _CONTROL.search(text):
        raise InvalidPath("", reason=CONTROL)
    if text[0] == "~" and (len(text) == 1 or text[1] == "/"):
        text = home + text[1:]
    elif text[0] != "/":
        text = f"{workdir}/{text}"
    return "/" + os.path.normpath(text).lstrip("/")


def check_name(name: str) -> bytes:
    """One component as bytes. Raises InvalidName for separators, `.`, `..`, empty, control characters, over 255 bytes."""
    if not name or name in {".", ".."}:
        raise InvalidName(name, reason=DOT_NAME)
    if "/" in name or "\\" in name:
        raise InvalidName(name, reason=SEPARATOR)
    if _CONTROL.search(name):
        raise InvalidName(name, reason=CONTROL)
    raw = to_bytes(name)
    if len(raw) > NAME_MAX:
        raise InvalidName(name, reason=TOO_LONG)
    return raw
