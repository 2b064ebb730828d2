"""Escapes of $'...', `echo -e` and `printf`."""

from __future__ import annotations

import re

ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|0?[0-7]{1,3}|c.|.)", re.DOTALL)
LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
LAST = 0x10FFFF
SURROGATES = range(0xD800, 0xE000)


def decode(text: str) -> str:
    """The text with its escapes decoded; an unknown escape stays the character behind the backslash."""
    return ESCAPE.sub(_one, text) if "\\" in text else text


def _one(match: re.Match[str]) -> str:
    body = match[1]
    if body[0] in "xuU" and len(body) > 1:
        code = int(body[1:], 16)
        return "\ufffd" if code > LAST or code in SURROGATES else chr(code)
    if body[0] in "01234567":
        return chr(int(body, 8) & 0xFF)
    if body[0] == "c" and len(body) > 1:
        return chr(ord(body[1]) & 0x1F)
    return LETTERS.get(body, body)
