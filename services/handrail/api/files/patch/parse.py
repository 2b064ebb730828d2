"""The text of a unified diff to values. Strict: counts must be right, and what cannot be applied is refused with its line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

NOWHERE = "/dev/null"
MOST_FILES, MOST_HUNKS = 200, 5000
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
# what a patch of git can say and a change of text cannot do
_UNSUPPORTED = ("rename from ", "rename to ", "copy from ", "copy to ", "Binary files ", "GIT binary patch", "old mode ", "new mode ")
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_LETTERS = {"n": 10, "t": 9, "r": 13, '"': 34, "\\": 92, "a": 7, "b": 8, "f": 12, "v": 11}
Sign = Literal[" ", "-", "+"]


class NotAPatch(ValueError):
    """`line` (from 1) of the patch is wrong."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line, self.reason = line, reason


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines with their signs, without line ends. `start` counts from 1 as in the header; `bare_end` is about the new side's last line."""

    start: int
    lines: tuple[tuple[Sign, str], ...]
    bare_end: bool  # "\ No newline at end of file" holds for the new side

    @property
    def old(self) -> list[str]:
        """What must be there."""
        return [text for sign, text in self.lines if sign != "+"]


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What happens to one file: `old` None = it is new, `new` None = it is deleted."""

    old: str | None
    new: str | None
    hunks: tuple[Hunk, ...]

    @property
    def path(self) -> str:
        """The file."""
        return self.new or self.old or ""


def parse(text: str) -> list[FilePatch]:
    """The files of a patch, in order. Raises NotAPatch."""
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    out: list[FilePatch] = []
    index = 0
    while index < len(lines):
        if lines[index].startswith(_UNSUPPORTED):
            raise NotAPatch(index + 1, "only text can be changed, not names, modes or binary data")
        if lines[index].startswith("@@ "):
            raise NotAPatch(index + 1, "a hunk before the --- and +++ lines of its file")
        if lines[index].startswith("--- ") and index + 1 < len(lines) and lines[index + 1].startswith("+++ "):
            found, index = _file(lines, index)
            out.append(found)
        else:
            index += 1
    if not out or len(out) > MOST_FILES:
        raise NotAPatch(1, "no --- and +++ lines" if not out else "too many files")
    paths = [found.path for found in out]
    if len(set(paths)) < len(paths):
        raise NotAPatch(1, "a file occurs twice")
    return out


def _file(lines: Sequence[str], index: int) -> tuple[FilePatch, int]:
    old, new = _name(lines[index][4:]), _name(lines[index + 1][4:])
    if (old is None or old.startswith("a/")) and (new is None or new.startswith("b/")):  # git's prefixes
        old, new = old and old[2:], new and new[2:]
    if old is None and new is None:
        raise NotAPatch(index + 1, "both sides are /dev/null")
    if old is not None and new is not None and old != new:
        raise NotAPatch(index + 1, "only text can be changed, not names")
    hunks: list[Hunk] = []
    start, index = index, index + 2
    while index < len(lines) and lines[index].startswith("@@"):
        hunk, index = _hunk(lines, index)
        hunks.append(hunk)
    if not hunks or len(hunks) > MOST_HUNKS:
        raise NotAPatch(start + 1, "a file without hunks" if not hunks else "too many hunks")
    return FilePatch(old, new, tuple(hunks)), index


def _name(raw: str) -> str | None:
    name = raw.split("\t", 1)[0].rstrip()
    if len(name) > 1 and name[0] == name[-1] == '"':
        name = _unquoted(name[1:-1])
    return None if name == NOWHERE else name


def _unquoted(text: str) -> str:
    """A name as git quotes it: octal escapes of its bytes."""
    out = bytearray()
    position = 0
    for match in _ESCAPE.finditer(text):
        out += text[position : match.start()].encode()
        code = match[1]
        out.append(int(code, 8) & 0xFF if len(code) > 1 else _LETTERS.get(code, ord(code) & 0xFF))
        position = match.end()
    out += text[position:].encode()
    return out.decode("utf-8", "replace")


def _hunk(lines: Sequence[str], index: int) -> tuple[Hunk, int]:
    header = _HUNK.match(lines[index])
    if header is None:
        raise NotAPatch(index + 1, "a hunk begins with @@ -line,count +line,count @@")
    left = {"-": int(header[2] or 1), "+": int(header[4] or 1)}
    body: list[tuple[Sign, str]] = []
    at, bare_end = index + 1, False
    while left["-"] or left["+"] or (at < len(lines) and lines[at].startswith("\\")):
        line = lines[at] if at < len(lines) else None
        if line is None or (line and line[0] not in " -+\\"):
            raise NotAPatch(at + 1, f"the hunk ends before its counts do ({left['-']} old and {left['+']} new lines are missing)")
        at += 1
        if line.startswith("\\"):
            bare_end = bare_end or (bool(body) and body[-1][0] != "-")
            continue
        sign: Sign = "-" if line[:1] == "-" else "+" if line[:1] == "+" else " "  # editors strip the blank of an empty context line
        for side in "-+" if sign == " " else sign:
            left[side] -= 1
        if min(left.values()) < 0:
            raise NotAPatch(at, "the hunk has more lines than its counts say")
        body.append((sign, line[1:]))
    return Hunk(int(header[1]), tuple(body), bare_end), at
