"""The tolerant edit once more, as slowly and plainly as its rules read: what the real matcher is compared with."""

from __future__ import annotations

import re
from collections.abc import Callable

WHITE = "".join(
    chr(code) for code in (*range(9, 14), 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)
)
Window = tuple[int, int, str]
Fits = Callable[[list[str], list[str], str], str | None]


def edit(text: str, old: str, new: str, *, replace_all: bool = False, expected: int | None = None) -> tuple[str, str, int] | str:
    """(result, strategy, replacements), or the reason why not."""
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    body = text[len(mark) :]
    for strategy, find in (("exact", _exact), ("line-endings", _endings), ("trailing-whitespace", _blanks), ("indentation", _indented)):
        windows = find(body, old, new)
        if not windows:
            continue
        if len(windows) > 1 and not replace_all:
            return "ambiguous"
        if expected is not None and expected != len(windows):
            return "count_mismatch"
        result = body
        for start, end, filling in reversed(windows):
            result = result[:start] + _eol(filling, body) + result[end:]
        return "no_change" if result == body else (mark + result, strategy, len(windows))
    return "no_match"


def _eol(new: str, text: str) -> str:
    pairs, all_lf = text.count("\r\n"), text.count("\n")
    if not all_lf:
        return new
    return re.sub("\r?\n", "\r\n" if pairs >= all_lf - pairs else "\n", new)


def _exact(text: str, old: str, new: str) -> list[Window]:
    out: list[Window] = []
    index = 0
    while index + len(old) <= len(text):
        end = index + len(old)
        split = any(text[max(0, edge - 1) : edge + 1] == "\r\n" for edge in (index, end) if edge)
        if text[index:end] == old and not split:
            out.append((index, end, new))
            index = end
        else:
            index += 1
    return out


def _units(text: str) -> list[tuple[str, int, int]]:
    return [("\n" if match.group() == "\r\n" else match.group(), match.start(), match.end()) for match in re.finditer("\r\n|(?s:.)", text)]


def _unmarked(old: str, new: str) -> tuple[str, str]:
    return (old[1:], new.removeprefix("\ufeff")) if old.startswith("\ufeff") else (old, new)


def _endings(text: str, old: str, new: str) -> list[Window]:
    old, new = _unmarked(old, new)
    units, wanted = _units(text), [char for char, _, _ in _units(old)]
    out: list[Window] = []
    index = 0
    while wanted and index + len(wanted) <= len(units):
        if [char for char, _, _ in units[index : index + len(wanted)]] == wanted:
            out.append((units[index][1], units[index + len(wanted) - 1][2], new.replace("\r\n", "\n")))
            index += len(wanted)
        else:
            index += 1
    return out


def _lines(text: str) -> list[tuple[str, int, int]]:
    """(content, start, end of the content) of each line."""
    out: list[tuple[str, int, int]] = []
    for match in re.finditer("[^\n]*\n|[^\n]+", text):
        content = re.sub("\r?\n$", "", match.group()) if match.group().endswith("\n") else match.group()
        out.append((content, match.start(), match.start() + len(content)))
    return out


def _windows(text: str, old: str, new: str, fits: Fits) -> list[Window]:
    lines, wanted = _lines(text), [content for content, _, _ in _lines(old)]
    out: list[Window] = []
    index = 0
    while wanted and index + len(wanted) <= len(lines):
        filling = fits([content for content, _, _ in lines[index : index + len(wanted)]], wanted, new.replace("\r\n", "\n"))
        last = index + len(wanted)
        if filling is None:
            index += 1
            continue
        end = (lines[last][1] if last < len(lines) else len(text)) if old.endswith("\n") else lines[last - 1][2]
        out.append((lines[index][1], end, filling))
        index = last
    return out


def _blanks(text: str, old: str, new: str) -> list[Window]:
    old, new = _unmarked(old, new)

    def fits(there: list[str], wanted: list[str], filling: str) -> str | None:
        return filling if all(a.rstrip(WHITE) == b.rstrip(WHITE) for a, b in zip(there, wanted, strict=True)) else None

    return _windows(text, old, new, fits)


def _indented(text: str, old: str, new: str) -> list[Window]:
    old, new = _unmarked(old, new)
    return _windows(text, old, new, _shifted)


def _shifted(there: list[str], wanted: list[str], new: str) -> str | None:
    pairs = [(a.rstrip(WHITE), b.rstrip(WHITE)) for a, b in zip(there, wanted, strict=True)]
    if any(a.strip(WHITE) != b.strip(WHITE) for a, b in pairs):
        return None
    full = [(a, b) for a, b in pairs if b]
    if not full:
        return None
    for length in range(1, max(len(full[0][0]), len(full[0][1])) + 1):
        added, removed = full[0][0][:length], full[0][1][:length]
        if all(a == added + b for a, b in full):
            return "\n".join(added + line if line.strip(WHITE) else line for line in new.split("\n"))
        if all(b == removed + a for a, b in full):
            if any(line.strip(WHITE) and not line.startswith(removed) for line in new.split("\n")):
                return None
            return "\n".join(line[length:] if line.strip(WHITE) else line for line in new.split("\n"))
    return None
