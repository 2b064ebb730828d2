"""Where `old_string` is in a text and what the edit makes of it. Pure.

One pass for now: exact. Each pass is a function that finds spans; the first with a hit is the only one used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Strategy = Literal["exact"]
Span = tuple[int, int]
Pass = Callable[[str, str], list[Span]]


@dataclass(frozen=True, slots=True)
class Edited:
    """The new text with how it came about."""

    text: str
    strategy: Strategy
    replacements: int


@dataclass(frozen=True, slots=True)
class NotEdited:
    """Why nothing is changed. `found` counts the hits of the winning pass."""

    reason: Literal["no_match", "ambiguous", "count_mismatch", "no_change"]
    found: int = 0
    actual: int = 0


def exact(text: str, old: str) -> list[Span]:
    """Non-overlapping hits from left to right; a CRLF pair is never split."""
    spans: list[Span] = []
    start = text.find(old)
    while start >= 0:
        end = start + len(old)
        if _splits_pair(text, start) or _splits_pair(text, end):
            start = text.find(old, start + 1)
            continue
        spans.append((start, end))
        start = text.find(old, end)
    return spans


PASSES: tuple[tuple[Strategy, Pass], ...] = (("exact", exact),)


def apply(text: str, old: str, new: str, *, replace_all: bool = False, expected: int | None = None) -> Edited | NotEdited:
    """Replace `old` (not empty) by `new`. Without `replace_all` there must be exactly one hit. New text takes the file's line ending."""
    for strategy, find in PASSES:
        spans = find(text, old)
        if spans:
            return _replace(text, spans, new, strategy, replace_all=replace_all, expected=expected)
    return NotEdited("no_match")


def _replace(text: str, spans: list[Span], new: str, strategy: Strategy, *, replace_all: bool, expected: int | None) -> Edited | NotEdited:
    if len(spans) > 1 and not replace_all:
        return NotEdited("ambiguous", len(spans))
    if expected is not None and expected != len(spans):
        return NotEdited("count_mismatch", len(spans), len(spans))
    filling = to_dominant_eol(new, text)
    out: list[str] = []
    position = 0
    for start, end in spans:
        out += (text[position:start], filling)
        position = end
    out.append(text[position:])
    result = "".join(out)
    return NotEdited("no_change", len(spans)) if result == text else Edited(result, strategy, len(spans))


def to_dominant_eol(new: str, text: str) -> str:
    """`new` with the line ending that `text` mostly uses: CRLF when there are at least as many as lone LFs."""
    pairs = text.count("\r\n")
    lone = text.count("\n") - pairs
    plain = new.replace("\r\n", "\n")
    if pairs and pairs >= lone:
        return plain.replace("\n", "\r\n")
    return plain if lone else new


def _splits_pair(text: str, index: int) -> bool:
    return 0 < index < len(text) and text[index] == "\n" and text[index - 1] == "\r"
