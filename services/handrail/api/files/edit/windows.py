"""Passes 3 and 4, which match windows of whole lines: trailing white space set aside, and one uniform change of the indentation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from handrail.api.files.edit.lines import MARK, WHITE, Hit, Lines, blank, indent, split, to_lf

MOST_COMPARISONS = 4_000_000  # of indentations in one edit; a text made to need more has no match in pass 4


def trailing_whitespace(text: str, old: str, new: str) -> list[Hit]:
    """Windows whose lines are those of `old` but for white space at their ends. `new` replaces the whole lines."""
    wanted, lines = split(old.removeprefix(MARK)), split(text)
    filling = to_lf(new.removeprefix(MARK) if old.startswith(MARK) else new)
    hits: list[Hit] = []
    free = 0
    for first in occurrences([line.rstrip(WHITE) for line in lines.contents], [line.rstrip(WHITE) for line in wanted.contents]):
        if first >= free:
            hits.append(_hit(lines, first, wanted, filling))
            free = first + len(wanted.contents)
    return hits


def indentation(text: str, old: str, new: str) -> list[Hit]:
    """Windows that are `old` with one prefix before (or one prefix less on) every line that is not blank; `new` is shifted alike."""
    wanted, lines = split(old.removeprefix(MARK)), split(text)
    plain = to_lf(new.removeprefix(MARK) if old.startswith(MARK) else new)
    # (place in the window, indentation) of the lines that count
    told = [(place, indent(line)) for place, line in enumerate(wanted.contents) if not blank(line)]
    hits: list[Hit] = []
    free, left = 0, MOST_COMPARISONS
    for first in occurrences([line.strip(WHITE) for line in lines.contents], [line.strip(WHITE) for line in wanted.contents]):
        if first < free:
            continue
        shift, looked = _shift(lines.contents, first, told)
        left -= looked
        if left < 0:
            return []
        filling = _shifted(plain, *shift) if shift is not None else None
        if filling is not None:
            hits.append(_hit(lines, first, wanted, filling))
            free = first + len(wanted.contents)
    return hits


def _hit(lines: Lines, first: int, wanted: Lines, filling: str) -> Hit:
    start, end = lines.span(first, len(wanted.contents), with_end=wanted.ended)
    return Hit(start, end, filling)


def _shift(contents: Sequence[str], first: int, told: Sequence[tuple[int, str]]) -> tuple[tuple[str, bool] | None, int]:
    """(prefix, whether it is to be added) for the window at `first`, None when there is no such one; and how many lines were looked at."""
    shift: tuple[str, bool] | None = None
    for count, (place, given) in enumerate(told, 1):
        there = indent(contents[first + place])
        more = len(there) - len(given)
        deeper = more > 0
        longer, shorter = (there, given) if deeper else (given, there)
        if not more or not longer.endswith(shorter):
            return None, count
        found = (longer[: abs(more)], deeper)
        if shift is not None and found != shift:
            return None, count
        shift = found
    return shift, len(told)


def _shifted(new: str, prefix: str, add: bool) -> str | None:  # noqa: FBT001 - a pair that _shift made
    """`new` with the prefix on every line that is not blank, or without it; None when a line has none to give up."""
    out: list[str] = []
    for line in new.split("\n"):
        if blank(line):
            out.append(line)
        elif add:
            out.append(prefix + line)
        elif line.startswith(prefix):
            out.append(line[len(prefix) :])
        else:
            return None
    return "\n".join(out)


def occurrences(lines: Sequence[str], wanted: Sequence[str]) -> Iterator[int]:
    """Every place, overlapping ones too, where `wanted` stands in `lines` (Knuth, Morris, Pratt: linear whatever the texts)."""
    if not wanted:
        return
    borders = [0] * len(wanted)
    known = 0
    for index in range(1, len(wanted)):
        while known and wanted[index] != wanted[known]:
            known = borders[known - 1]
        known += wanted[index] == wanted[known]
        borders[index] = known
    known = 0
    for index, line in enumerate(lines):
        while known and (known == len(wanted) or line != wanted[known]):
            known = borders[known - 1]
        known += line == wanted[known]
        if known == len(wanted):
            yield index - len(wanted) + 1
