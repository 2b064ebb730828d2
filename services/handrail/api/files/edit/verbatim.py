"""Passes 1 and 2, which match anywhere, within lines too: exact, and with line endings and a byte order mark set aside."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left

from handrail.api.files.edit.lines import MARK, Hit, to_lf

_PAIR = re.compile("\r\n")


def exact(text: str, old: str, new: str) -> list[Hit]:
    """Non-overlapping hits from left to right; a CRLF pair is never split."""
    hits: list[Hit] = []
    start = text.find(old)
    while start >= 0:
        end = start + len(old)
        if _splits_pair(text, start) or _splits_pair(text, end):
            start = text.find(old, start + 1)
            continue
        hits.append(Hit(start, end, new))
        start = text.find(old, end)
    return hits


def line_endings(text: str, old: str, new: str) -> list[Hit]:
    """Like exact with CRLF taken for LF on both sides and without a byte order mark at the start of `old`.

    A hit covers whole CRLF pairs. The text comes here without its own mark.
    """
    wanted = to_lf(old.removeprefix(MARK))
    if not wanted or (wanted == old and "\r\n" not in text):
        return []
    filling = to_lf(new.removeprefix(MARK) if old.startswith(MARK) else new)
    plain = to_lf(text)
    # where the LF of each pair is in `plain`: as many CRs are missing before it as there are pairs before it
    pairs = array("L", (match.start() - count for count, match in enumerate(_PAIR.finditer(text))))
    hits: list[Hit] = []
    start = plain.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        hits.append(Hit(start + bisect_left(pairs, start), end + bisect_left(pairs, end), filling))
        start = plain.find(wanted, end)
    return hits


def _splits_pair(text: str, index: int) -> bool:
    return 0 < index < len(text) and text[index] == "\n" and text[index - 1] == "\r"
