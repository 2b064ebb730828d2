"""Help when nothing matches: the window of the file that is most like `old_string`, and what differs line by line."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from handrail.api.files.edit.lines import MARK, WHITE, blank, indent, split

Kind = Literal["text", "case", "indentation", "white space", "characters that look alike", "missing"]
SHOWN = 200  # characters of a line that are compared and shown
MOST_LINES = 200_000  # of a file that are looked at
MOST_SIMILAR = 2000  # distinct lines that are compared letter by letter
COMMON = 200  # a line that occurs more often says nothing about the place
DIFFERENCES = 5
MIN_RATIO = 0.6
_LOOK_ALIKE = str.maketrans("‘’‚“”„–—−\u00a0", '\'\'`"""--- ')  # noqa: RUF001 - the characters in question


@dataclass(frozen=True, slots=True)
class Difference:
    """One line of the window that is not as wanted. Lines count from 1."""

    line: int
    kind: Kind
    there: str
    wanted: str


@dataclass(frozen=True, slots=True)
class Nearest:
    """Lines first..last of the file, how many lines of the wanted text they hold alike, and what differs first."""

    first: int
    last: int
    alike: int
    differences: tuple[Difference, ...]


def nearest(text: str, old: str) -> Nearest | None:
    """The most similar window, None when nothing in the file is like `old`. Bounded work whatever the texts."""
    lines = split(text).contents[:MOST_LINES]
    wanted = split(old.removeprefix(MARK)).contents
    if not lines or all(blank(line) for line in wanted):
        return None
    first = _by_equal_lines(lines, wanted)
    if first is None:
        first = _by_similar_line(lines, wanted)
    return None if first is None else _described(lines, wanted, first)


def shown(near: Nearest) -> dict[str, object]:
    """For an answer in JSON."""
    return {
        "startLine": near.first,
        "endLine": near.last,
        "linesAlike": near.alike,
        "differences": [{"line": one.line, "differs": one.kind, "file": one.there, "wanted": one.wanted} for one in near.differences],
    }


def _by_equal_lines(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Where most lines of the window are the wanted ones, white space at both ends and letter case set aside."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, line in enumerate(wanted):
        if not blank(line):
            places[_key(line)].append(place)
    found: defaultdict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(lines):
        key = _key(line)
        if key in places and len(found[key]) <= COMMON:
            found[key].append(number)
    votes: Counter[int] = Counter()
    for key, numbers in found.items():
        if len(numbers) <= COMMON:
            for place in places[key][:COMMON]:
                votes.update(number - place for number in numbers if number >= place)
    return min(votes, key=lambda first: (-votes[first], first)) if votes else None


def _by_similar_line(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Where the longest wanted line, or one very much like it, is."""
    place = max(range(len(wanted)), key=lambda index: len(wanted[index].strip(WHITE)))
    target = _key(wanted[place])[:SHOWN]
    squeezed = _squeezed(target)
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(target)
    best, at = MIN_RATIO, None
    compared: set[str] = set()
    for number, line in enumerate(lines):
        key = _key(line)[: SHOWN * 5]
        if squeezed and squeezed in _squeezed(key):  # within the line, spaced or cased otherwise
            return max(0, number - place)
        key = key[:SHOWN]
        if not key or key in compared or len(compared) >= MOST_SIMILAR:
            continue
        compared.add(key)
        matcher.set_seq1(key)
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and (ratio := matcher.ratio()) > best:
            best, at = ratio, number
    return None if at is None else max(0, at - place)


def _described(lines: Sequence[str], wanted: Sequence[str], first: int) -> Nearest:
    alike, differences = 0, list[Difference]()
    for place, line in enumerate(wanted):
        number = first + place
        if number >= len(lines):
            differences.append(Difference(number + 1, "missing", "", line[:SHOWN]))
            continue
        kind = _kind(lines[number], line)
        if kind is None:
            alike += 1
        else:
            differences.append(Difference(number + 1, kind, lines[number][:SHOWN], line[:SHOWN]))
    return Nearest(first + 1, min(first + len(wanted), len(lines)), alike, tuple(differences[:DIFFERENCES]))


def _kind(there: str, wanted: str) -> Kind | None:
    """What tells two lines apart; None when only white space at their ends does."""
    if there.rstrip(WHITE) == wanted.rstrip(WHITE):
        return None
    if there.strip(WHITE) == wanted.strip(WHITE):
        return "indentation" if indent(there) != indent(wanted) else None
    if _plain(there) == _plain(wanted):
        return "characters that look alike"
    if _squeezed(there) == _squeezed(wanted):
        return "white space"
    return "case" if _key(there) == _key(wanted) else "text"


def _key(line: str) -> str:
    return line.strip(WHITE).casefold()


def _squeezed(line: str) -> str:
    return "".join(line.split())


def _plain(line: str) -> str:
    return unicodedata.normalize("NFKC", line.translate(_LOOK_ALIKE)).strip(WHITE)
