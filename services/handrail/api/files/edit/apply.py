"""Which pass wins, whether its hits may be replaced, and the new text.

The passes go from strict to lenient; the first with a hit is the only one used, also for counting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from handrail.api.files.edit.lines import MARK, Hit, to_dominant_eol
from handrail.api.files.edit.verbatim import exact, line_endings
from handrail.api.files.edit.windows import indentation, trailing_whitespace

Strategy = Literal["exact", "line-endings", "trailing-whitespace", "indentation"]
Reason = Literal["no_match", "ambiguous", "count_mismatch", "no_change"]
Pass = Callable[[str, str, str], list[Hit]]
PASSES: tuple[tuple[Strategy, Pass], ...] = (
    ("exact", exact),
    ("line-endings", line_endings),
    ("trailing-whitespace", trailing_whitespace),
    ("indentation", indentation),
)


@dataclass(frozen=True, slots=True)
class Edited:
    """The new text with how it came about."""

    text: str
    strategy: Strategy
    replacements: int


@dataclass(frozen=True, slots=True)
class NotEdited:
    """Why nothing is changed. `found` counts the hits of the winning pass, `at` are the lines (from 1) where the first of them begin."""

    reason: Reason
    found: int = 0
    actual: int = 0
    at: tuple[int, ...] = ()


MOST_PLACES = 10  # of an ambiguous text that are told


def apply(text: str, old: str, new: str, *, replace_all: bool = False, expected: int | None = None) -> Edited | NotEdited:
    """Replace `old` (not empty) by `new`. Without `replace_all` there must be exactly one hit. New text takes the file's line ending.

    A byte order mark at the start of `text` stays, whatever is replaced.
    """
    mark = MARK if text.startswith(MARK) else ""
    body = text[len(mark) :]
    for strategy, find in PASSES:
        hits = find(body, old, new)
        if hits:
            refusal = _refused(body, hits, replace_all=replace_all, expected=expected)
            if refusal is not None:
                return refusal
            result = _replaced(body, hits)
            return NotEdited("no_change", len(hits)) if result == body else Edited(mark + result, strategy, len(hits))
    return NotEdited("no_match")


def _refused(text: str, hits: Sequence[Hit], *, replace_all: bool, expected: int | None) -> NotEdited | None:
    if len(hits) > 1 and not replace_all:
        return NotEdited("ambiguous", len(hits), at=tuple(text.count("\n", 0, hit.start) + 1 for hit in hits[:MOST_PLACES]))
    if expected is not None and expected != len(hits):
        return NotEdited("count_mismatch", len(hits), len(hits))
    return None


def _replaced(text: str, hits: Sequence[Hit]) -> str:
    fillings: dict[str, str] = {}
    out: list[str] = []
    position = 0
    for hit in hits:
        if hit.filling not in fillings:
            fillings[hit.filling] = to_dominant_eol(hit.filling, text)
        out += (text[position : hit.start], fillings[hit.filling])
        position = hit.end
    out.append(text[position:])
    return "".join(out)
