r"""Globs: one dialect for every tool and route. Pure.

`*` any characters but `/`; `**` as a whole segment any directories; `?` one character but `/`; `[a-z]`, `[!a-z]`; `{a,b}`;
`\` takes the next character as it is. A pattern without `/` is matched against the base name at any depth, one with
`/` against the path relative to where the search starts. `|` joins alternatives where a parameter says so.
"""

from __future__ import annotations

import re

from handrail.api.files.errors import GlobInvalid
from handrail.api.files.search.linear import MAX_PATTERN, Linear, compile_whole

MAX_ALTERNATIVES = 64
_SIMPLE = re.compile(r"[A-Za-z0-9_.?*-]+")


class Glob:
    """A compiled glob (or several joined by `|`)."""

    def __init__(self, pattern: str, *, ignore_case: bool, alternatives: bool = False) -> None:
        """Raises GlobInvalid."""
        parts = [part for part in pattern.split("|") if part] if alternatives else [pattern]
        if not parts or len(parts) > MAX_ALTERNATIVES:
            raise GlobInvalid(reason="empty or too many alternatives")
        if len(pattern) > MAX_PATTERN:  # before it is translated: ten megabytes would take ten seconds
            raise GlobInvalid(reason="too long")
        if "\0" in pattern:
            raise GlobInvalid(reason="a name holds no NUL")
        self._parts, self._ignore_case = parts, ignore_case
        self._names = _compile([p for p in parts if "/" not in p], pattern, ignore_case=ignore_case)
        self._paths = _compile([p.removeprefix("./").lstrip("/") for p in parts if "/" in p], pattern, ignore_case=ignore_case)

    def simple(self) -> list[str]:
        """The parts for a program that knows only plain globs on base names and is case-sensitive; empty when one of them is more."""
        if not all(_SIMPLE.fullmatch(part) for part in self._parts) or "*" in self._parts:
            return []
        if not self._ignore_case:
            return self._parts
        return ["".join(f"[{c.lower()}{c.upper()}]" if c.isalpha() else c for c in part) for part in self._parts]

    def matches(self, relative: bytes) -> bool:
        """Whether the path (bytes, `/` between, relative to the start of the search) matches."""
        if self._names is not None and self._names.matches(relative.rpartition(b"/")[2]):
            return True
        return self._paths is not None and self._paths.matches(relative)


def _compile(parts: list[str], source: str, *, ignore_case: bool) -> Linear | None:
    if not parts:
        return None
    return compile_whole("|".join(f"(?:{translate(part)})" for part in parts), source, ignore_case=ignore_case, error=GlobInvalid)


def translate(glob: str) -> str:
    """The regular expression (RE2) of a glob. Raises GlobInvalid for unbalanced braces."""
    out: list[str] = []
    depth = 0
    index = 0
    while index < len(glob):
        char = glob[index]
        index += 1
        if char == "*":
            index = _star(glob, index, out)
        elif char == "?":
            out.append("[^/]")
        elif char == "[":
            index = _class(glob, index, out)
        elif char == "{":
            depth += 1
            out.append("(?:")
        elif char == "}" and depth:
            depth -= 1
            out.append(")")
        elif char == "," and depth:
            out.append("|")
        elif char == "\\" and index < len(glob):
            out.append(re.escape(glob[index]))
            index += 1
        else:
            out.append(re.escape(char))
    if depth:
        raise GlobInvalid(reason="unbalanced {")
    return "".join(out)


def _star(glob: str, index: int, out: list[str]) -> int:
    end = index
    while end < len(glob) and glob[end] == "*":
        end += 1
    starts_segment = index == 1 or glob[index - 2] == "/"
    if end - index >= 1 and starts_segment:
        if glob[end : end + 1] == "/":
            out.append("(?:[^/]+/)*")
            return end + 1
        if end == len(glob):
            out.append(".*")
            return end
    out.append("[^/]*")
    return end


def _class(glob: str, index: int, out: list[str]) -> int:
    """A character class from after its `[`; without a `]` the bracket is an ordinary character."""
    first = index + 1 if glob[index : index + 1] in {"!", "^"} else index
    end = glob.find("]", first + 1)
    if end < 0:
        out.append(re.escape("["))
        return index
    body = glob[first:end].replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^").replace("]", "\\]")
    out.append(f"[{'^/' if first > index else ''}{body}]")
    return end + 1
