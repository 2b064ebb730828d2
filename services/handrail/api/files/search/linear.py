r"""Regular expressions in linear time (RE2): no pattern can make the service hang. The only user of the `re2` module.

The dialect is RE2's syntax: no back-references, no look-around; `\w \d \s \b` are ASCII; patterns and text are UTF-8.
A line is what is between two line feeds; `$` also stands before the CR of a CRLF.
"""

from __future__ import annotations

import importlib
from typing import Any

from handrail.api.files.errors import RegexInvalid
from handrail.api.files.search.dialect import re2_pattern
from handrail.contract.errors import HandrailError

MAX_PATTERN = 4096  # characters
MAX_MEMORY = 16 << 20  # bytes of one compiled pattern with its caches
_re2: Any = importlib.import_module("re2")  # the wheel has no types


class Linear:
    """A compiled pattern. Safe to use from several threads."""

    __slots__ = ("_regexp",)

    def __init__(self, regexp: Any) -> None:  # noqa: ANN401 - untyped module
        self._regexp = regexp

    def search(self, data: bytes, start: int = 0) -> tuple[int, int] | None:
        """Byte offsets of the first match at or after `start`."""
        match = self._regexp.search(data, start)
        return None if match is None else (int(match.start()), int(match.end()))

    def matches(self, data: bytes) -> bool:
        """Whether the whole of `data` matches."""
        return self._regexp.fullmatch(data) is not None


def compile_lines(pattern: str, *, fixed: bool, ignore_case: bool, multiline: bool = False) -> Linear:
    """A pattern that is looked for within lines, or across them with `multiline`, where `.` is a line feed too. Raises RegexInvalid."""
    body = _re2.escape(pattern.encode()) if fixed else re2_pattern(pattern, multiline=multiline).encode()
    flags = b"(?m" + b"s" * multiline + b"i" * ignore_case + b")"
    return _compile(flags + body, pattern, never_nl=not multiline, error=RegexInvalid)


def compile_whole(pattern: str, source: str, *, ignore_case: bool, error: type[HandrailError]) -> Linear:
    """A pattern for `matches`. Raises `error`."""
    return _compile((b"(?si)" if ignore_case else b"(?s)") + pattern.encode(), source, never_nl=False, error=error)


def _compile(raw: bytes, source: str, *, never_nl: bool, error: type[HandrailError]) -> Linear:
    if len(source) > MAX_PATTERN:
        raise error(reason="too long")
    options = _re2.Options()
    options.never_nl = never_nl
    options.log_errors = False
    options.never_capture = True
    options.max_mem = MAX_MEMORY
    try:
        return Linear(_re2.compile(raw, options))
    except _re2.error as exc:
        detail = exc.args[0] if exc.args else b""
        text = detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)
        raise error(reason=text[:200]) from exc
