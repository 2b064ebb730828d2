r"""The regular expressions of clients: RE2 syntax, ASCII `\w \d \s \b`, line by line. Pure.

`re2_pattern` gives what RE2 gets, `rust_pattern` what ripgrep gets (its classes are Unicode and its sets know more operators), so
that both look for the same thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

LINE_END = r"(?:\r?$)"
Kind = Literal["text", "escape", "quoted", "open", "close", "posix", "dollar"]
_POSIX = re.compile(r"\[:\^?[a-z]+:\]")
_PROPERTY = re.compile(r"\\[pP](\{[^}]*\}|.)|\\x\{[0-9A-Fa-f]+\}|\\x[0-9A-Fa-f]{2}")
# escape -> (outside of a class, inside of one), as Rust is to read it; a line feed is never part of a line
_RUST = {
    "\\w": ("[0-9A-Za-z_]", "0-9A-Za-z_"),
    "\\W": ("[^0-9A-Za-z_]", "[^0-9A-Za-z_]"),
    "\\d": ("[0-9]", "0-9"),
    "\\D": ("[^0-9]", "[^0-9]"),
    "\\s": ("[\\t\\f\\r ]", "\\t\\f\\r "),
    "\\S": ("[^\\t\\n\\f\\r ]", "[^\\t\\n\\f\\r ]"),
    "\\b": ("(?-u:\\b)", "\\x08"),
    "\\B": ("(?-u:\\B)", ""),
    "\\A": ("^", "A"),
    "\\z": (LINE_END, "z"),
}
# the same across lines, where a line feed is white space and \A and \z are the ends of the file
_RUST_ACROSS = {
    "\\s": ("[\\t\\n\\f\\r ]", "\\t\\n\\f\\r "),
    "\\S": ("[^\\t\\n\\f\\r ]", "[^\\t\\n\\f\\r ]"),
    "\\A": ("\\A", "A"),
    "\\z": ("\\z", "z"),
}
_UNKNOWN_TO_RUST = frozenset({"\\C"})


def re2_pattern(pattern: str, *, multiline: bool = False) -> str:
    r"""`$` also stands before the CR of a CRLF. Within lines, `\A` and `\z` mean the ends of a line; across them, of the file."""
    out: list[str] = []
    for kind, text, in_class in tokens(pattern):
        if kind == "dollar" or (kind == "escape" and text == "\\z" and not in_class and not multiline):
            out.append(LINE_END)
        elif kind == "escape" and text == "\\A" and not in_class and not multiline:
            out.append("^")
        else:
            out.append(text)
    return "".join(out)


def rust_pattern(pattern: str, *, multiline: bool = False) -> str | None:
    """The same pattern for Rust's regex crate; None when it has no such form."""
    table = _RUST | _RUST_ACROSS if multiline else _RUST
    out: list[str] = []
    for kind, text, in_class in tokens(pattern):
        if kind == "dollar":
            out.append(LINE_END)
        elif kind == "quoted":
            out.append(re.escape(text.removeprefix("\\Q").removesuffix("\\E")))
        elif kind == "escape":
            if text in _UNKNOWN_TO_RUST or text[1:2].isdigit():
                return None
            out.append(table[text][in_class] if text in table else text)
        elif kind == "text" and in_class and text in "[&~-":
            # a set operator in Rust, an ordinary character here; a range keeps its single `-`
            if text == "-" and out[-1] == "-":
                return None
            out.append(text if text == "-" else "\\" + text)
        else:
            out.append(text)
    rust = "".join(out)
    return None if "\n" in rust and not multiline else rust


def tokens(pattern: str) -> Iterator[tuple[Kind, str, bool]]:
    """(kind, text, whether inside of a class); the texts joined are the pattern."""
    index, in_class = 0, False
    while index < len(pattern):
        kind, text = _token(pattern, index, in_class=in_class)
        yield kind, text, in_class
        index += len(text)
        if kind == "open":
            in_class = True
        elif kind == "close":
            in_class = False


def _token(pattern: str, index: int, *, in_class: bool) -> tuple[Kind, str]:
    char = pattern[index]
    if char == "\\":
        return _escape(pattern, index)
    if in_class:
        posix = _POSIX.match(pattern, index) if char == "[" else None
        if posix:
            return "posix", posix.group()
        return ("close" if char == "]" else "text"), char
    if char == "[":
        text = "[^" if pattern[index + 1 : index + 2] == "^" else "["
        # a `]` right after the opening is an ordinary member
        return "open", text + "]" if pattern[index + len(text) : index + len(text) + 1] == "]" else text
    return ("dollar" if char == "$" else "text"), char


def _escape(pattern: str, index: int) -> tuple[Kind, str]:
    pair = pattern[index : index + 2]
    if pair == "\\Q":
        end = pattern.find("\\E", index + 2)
        return "quoted", pattern[index:] if end < 0 else pattern[index : end + 2]
    longer = _PROPERTY.match(pattern, index)
    return "escape", longer.group() if longer else pair
