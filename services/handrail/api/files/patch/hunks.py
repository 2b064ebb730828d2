"""Hunks onto a text. Lines are compared without their line ends; kept lines keep every byte, new ones take the file's line ending."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from handrail.api.files.edit.lines import split
from handrail.api.files.edit.windows import occurrences
from handrail.api.files.patch.parse import Hunk

Line = tuple[str, str]  # content, line end


@dataclass(frozen=True, slots=True)
class NoPlace:
    """Hunk number `hunk` (from 1) fits `places` places, none of them where it says."""

    hunk: int
    places: int
    text: str  # what it expects


def applied(text: str, hunks: Sequence[Hunk]) -> str | NoPlace:
    """The new text. A hunk that does not fit where it says goes to the only place after the one before it where it does."""
    lines = split(text)
    old: list[Line] = [
        (content, text[start + len(content) : end])
        for content, start, end in zip(lines.contents, lines.starts, lines.starts[1:], strict=False)
    ]
    end = _dominant(text)
    out: list[Line] = []
    done = drift = 0
    for number, hunk in enumerate(hunks, 1):
        wanted = hunk.old
        said = hunk.start - bool(wanted) + drift
        place = _place(lines.contents, wanted, done, said)
        if place < 0:
            return NoPlace(number, -place - 1, "\n".join(wanted))
        drift += place - said
        out += old[done:place]
        out += _changed(hunk, old[place : place + len(wanted)], end)
        done = place + len(wanted)
        if hunk.bare_end and done == len(old) and out:
            out[-1] = (out[-1][0], "")
    out += old[done:]
    # a line without a line end can only be the last one
    return "".join(content + (ending or end) for content, ending in out[:-1]) + "".join(out[-1]) if out else ""


def _place(contents: Sequence[str], wanted: Sequence[str], done: int, said: int) -> int:
    """Where the hunk goes, or -1 - n when it fits n places and none can be chosen."""
    if not wanted:
        return said if done <= said <= len(contents) else -1
    if said >= done and list(contents[said : said + len(wanted)]) == list(wanted):
        return said
    places = [place for place in occurrences(contents, wanted) if place >= done]
    return places[0] if len(places) == 1 else -1 - len(places)


def _changed(hunk: Hunk, there: Sequence[Line], end: str) -> list[Line]:
    out: list[Line] = []
    position = 0
    for sign, content in hunk.lines:
        if sign == "+":
            out.append((content, end))
        else:
            if sign == " ":
                out.append(there[position])
            position += 1
    return out


def _dominant(text: str) -> str:
    pairs = text.count("\r\n")
    return "\r\n" if pairs and pairs >= text.count("\n") - pairs else "\n"
