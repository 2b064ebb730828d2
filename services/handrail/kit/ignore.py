r"""What a tree itself says is not to be looked at: `.gitignore`, `.ignore` and `.git/info/exclude`, by git's rules.

A pattern of a repository is hostile input: matching is linear in pattern and name for each star, no regular expressions.
Files nearer to an entry win over files above, `.ignore` over `.gitignore`, later lines over earlier ones; what lies in an
ignored directory cannot be taken back in.
"""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field

from handrail.kit import openat2

MOST_BYTES = 1 << 20  # of one file of patterns
MOST_LINES = 5000
NAMES = "latin-1"  # names are bytes here, one character each, as git takes them
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
_FILES = (".git/info/exclude", ".gitignore", ".ignore")  # the later ones win
ANY, STAR = 0, 1  # tokens of a pattern beside characters and classes


@dataclass(frozen=True, slots=True)
class _Class:
    """`[a-z]` or, with `negated`, `[!a-z]`; ranges include both ends."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool

    def has(self, char: str) -> bool:
        return any(low <= char <= high for low, high in self.ranges) != self.negated


_Token = str | int | _Class
_Segment = tuple[_Token, ...] | None  # None = `**`


@dataclass(frozen=True, slots=True)
class _Pattern:
    segments: tuple[_Segment, ...]
    negated: bool
    directories: bool


@dataclass(slots=True)
class _Patterns:
    """The patterns of one directory, the plain ones by name."""

    names: dict[str, list[tuple[int, bool, bool]]] = field(default_factory=dict[str, list[tuple[int, bool, bool]]])
    others: list[tuple[int, _Pattern]] = field(default_factory=list[tuple[int, _Pattern]])

    def verdict(self, path: Sequence[str], *, is_dir: bool) -> bool | None:
        """Whether the entry is ignored, None when nothing here is about it."""
        best, verdict = -1, None
        for number, negated, directories in self.names.get(path[-1], ()):
            if number > best and (is_dir or not directories):
                best, verdict = number, not negated
        for number, pattern in reversed(self.others):
            if number < best:
                break
            if (is_dir or not pattern.directories) and _path_matches(pattern.segments, path):
                return not pattern.negated
        return verdict


@dataclass(frozen=True, slots=True)
class Ignore:
    """The rules in force in one directory, `depth` levels below the top one."""

    patterns: _Patterns | None = None
    depth: int = 0
    above: Ignore | None = None

    def enter(self, fd: int, depth: int) -> Ignore:
        """The rules in the directory open as `fd`, which lies `depth` levels below the top."""
        lines = [line for name in _FILES for line in _lines(fd, name)]
        return Ignore(_compiled(lines), depth, self) if lines else self

    def ignored(self, path: Sequence[str], *, is_dir: bool) -> bool:
        """Whether the entry (its names from the top one down, decoded as NAMES) is ignored by itself, not by a directory above it."""
        rules: Ignore | None = self
        while rules is not None:
            if rules.patterns is not None:
                verdict = rules.patterns.verdict(path[rules.depth :], is_dir=is_dir)
                if verdict is not None:
                    return verdict
            rules = rules.above
        return False


def _lines(fd: int, name: str) -> list[str]:
    try:
        if "/" in name:  # directories in between may be links
            file = openat2.open_beneath(fd, name.encode(), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        else:
            file = os.open(name, _FLAGS, dir_fd=fd)
    except OSError:
        return []
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return []
        return os.pread(file, MOST_BYTES, 0).removeprefix(codecs.BOM_UTF8).decode(NAMES).split("\n")[:MOST_LINES]
    except OSError:
        return []
    finally:
        os.close(file)


def compiled(text: str) -> Ignore:
    """The rules of one file's text at the top (for tests of the rules themselves)."""
    return Ignore(_compiled(text.encode().decode(NAMES).split("\n")))


def _compiled(lines: Sequence[str]) -> _Patterns:
    out = _Patterns()
    for number, line in enumerate(lines):
        pattern = _pattern(line.removesuffix("\r"))
        if pattern is None:
            continue
        name = _plain_name(pattern.segments)
        if name:
            out.names.setdefault(name, []).append((number, pattern.negated, pattern.directories))
        else:
            out.others.append((number, pattern))
    return out


def _plain_name(segments: Sequence[_Segment]) -> str:
    """The name at any depth that a pattern without wild cards is about, else ""."""
    match segments:
        case (None, tuple(tokens)) if all(isinstance(token, str) for token in tokens):
            return "".join(str(token) for token in tokens)
        case _:
            return ""


def _pattern(line: str) -> _Pattern | None:
    line = _without_trailing_blanks(line)
    negated = line.startswith("!")
    line = line[negated:]
    if not line or (line.startswith("#") and not negated):
        return None
    directories = line.endswith("/")
    line = line.rstrip("/") if directories else line
    anchored = "/" in line
    parts = [part for part in line.split("/") if part]
    if not parts:
        return None
    segments: list[_Segment] = [] if anchored else [None]
    for part in parts:
        if part != "**":
            tokens = _tokens(part)
            if tokens is None:
                return None
            segments.append(tokens)
        elif not segments or segments[-1] is not None:
            segments.append(None)
    if segments[-1] is None:  # `a/**` is everything in a, not a itself
        segments += [(STAR,)]
    return _Pattern(tuple(segments), negated, directories)


def _without_trailing_blanks(line: str) -> str:
    stripped = line.rstrip(" ")
    return stripped + " " if stripped != line and stripped.endswith("\\") and not stripped.endswith("\\\\") else stripped


def _tokens(part: str) -> tuple[_Token, ...] | None:
    """None for a class without an end, which matches nothing."""
    out: list[_Token] = []
    index = 0
    while index < len(part):
        char = part[index]
        index += 1
        if char == "*":
            if not out or out[-1] != STAR:
                out.append(STAR)
        elif char == "?":
            out.append(ANY)
        elif char == "[":
            found = _class(part, index)
            if found is None:
                return None
            out.append(found[0])
            index = found[1]
        elif char == "\\" and index < len(part):
            out.append(part[index])
            index += 1
        else:
            out.append(char)
    return tuple(out)


def _class(part: str, index: int) -> tuple[_Class, int] | None:
    """The class from after its `[`, and where it ends."""
    first = index + (part[index : index + 1] in {"!", "^"})
    end = part.find("]", first + 1)
    if end < 0:
        return None
    ranges: list[tuple[str, str]] = []
    at = first
    while at < end:
        low = part[at]
        if part[at + 1 : at + 2] == "-" and at + 2 < end:
            ranges.append((low, part[at + 2]))
            at += 3
        else:
            ranges.append((low, low))
            at += 1
    return _Class(tuple(ranges), first > index), end + 1


def _path_matches(pattern: Sequence[_Segment], path: Sequence[str]) -> bool:
    """Segment by segment; only the last `**` ever needs to be tried again."""
    at = place = 0
    star, kept = -1, 0
    while place < len(path):
        segment = pattern[at] if at < len(pattern) else ()
        if segment is None:
            star, kept = at, place
            at += 1
        elif at < len(pattern) and _name_matches(segment, path[place]):
            at, place = at + 1, place + 1
        elif star >= 0:
            kept += 1
            at, place = star + 1, kept
        else:
            return False
    return at == len(pattern)


def _name_matches(pattern: Sequence[_Token], name: str) -> bool:
    """Character by character; only the last `*` ever needs to be tried again."""
    at = place = 0
    star, kept = -1, 0
    while place < len(name):
        token = pattern[at] if at < len(pattern) else None
        if token == STAR:
            star, kept = at, place
            at += 1
        elif token is not None and _one_matches(token, name[place]):
            at, place = at + 1, place + 1
        elif star >= 0:
            kept += 1
            at, place = star + 1, kept
        else:
            return False
    return all(token == STAR for token in pattern[at:])


def _one_matches(token: _Token, char: str) -> bool:
    if isinstance(token, str):
        return token == char
    return True if isinstance(token, int) else token.has(char)
