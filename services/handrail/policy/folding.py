"""`${name<operator>word}` on a value that is known: trimmed, replaced, cut, in other case."""

from __future__ import annotations

import re
from fnmatch import translate

from handrail.policy.shell.syntax import GLOBS, PLAIN

MAX_LENGTH = 256  # a longer value is not folded: matching every cut costs its square
RANGE = re.compile(r"\s*(-?\d{1,6})\s*(?::\s*(-?\d{1,6})\s*)?\Z")
GLOB = re.compile(f"[{GLOBS}]")


def fold(value: str, operator: str, word: str) -> str | None:
    """The expansion's result; None when it is not followed."""
    if len(value) > MAX_LENGTH or len(word) > MAX_LENGTH or GLOB.search(value):
        return None
    if operator == "#len":
        return str(len(value))
    if operator in ("#", "##", "%", "%%"):
        return _trimmed(value, operator, word)
    if operator in ("/", "//"):
        return _replaced(value, operator, word)
    if operator in ("^^", "^", ",,", ",") and not word:
        return {"^^": value.upper(), ",,": value.lower(), "^": value[:1].upper() + value[1:], ",": value[:1].lower() + value[1:]}[operator]
    if operator == ":":
        return _cut(value, word)
    return None


def _pattern(word: str) -> re.Pattern[str]:
    return re.compile(translate(word.translate(PLAIN)) if GLOB.search(word) else re.escape(word) + r"\Z", re.DOTALL)


def _trimmed(value: str, operator: str, word: str) -> str:
    pattern, size = _pattern(word), len(value)
    cuts = range(size + 1) if operator in ("#", "%%") else range(size, -1, -1)
    for cut in cuts:
        if pattern.match(value[:cut] if operator[0] == "#" else value[cut:]):
            return value[cut:] if operator[0] == "#" else value[:cut]
    return value


def _replaced(value: str, operator: str, word: str) -> str | None:
    old, _, new = word.partition("/")
    if not old or old[0] in "#%" or GLOB.search(old):
        return None
    return value.replace(old, new, -1 if operator == "//" else 1)


def _cut(value: str, word: str) -> str | None:
    match = RANGE.match(word)
    if match is None:
        return None
    start = int(match[1])
    start = max(start + len(value), 0) if start < 0 else start
    if match[2] is None:
        return value[start:]
    length = int(match[2])
    return value[start : len(value) + length] if length < 0 else value[start : start + length]
