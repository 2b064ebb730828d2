"""An event as the fields of a journal line: plain JSON, secrets out, every value within bounds. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, cast, get_args

from handrail.api.audit.events import AuditEvent, Category, Level
from handrail.kit.redact import HIDDEN, is_secret_name, redact

MAX_TEXT = 2000  # characters of one value
SCAN_TEXT = 8000  # looked at for secrets before the cut
MAX_ITEMS = 50  # of one list or object
MAX_DEPTH = 4
MAX_NAME = 64
MAX_INT = 2**53 - 1
DECIMALS = 3
SURROGATES = 0xD800  # code points from here on sort differently in UTF-16 and UTF-8
MAX_FLOAT = 1e15  # beyond it the two number formats differ
CATEGORIES = frozenset(get_args(Category))
LEVELS = frozenset(get_args(Level))
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")


def fields_of(event: AuditEvent, now: float) -> dict[str, Any]:
    """The fields without writer, seq and prev. Raises ValueError for a category or level that does not exist."""
    fields = dict(_kind(event.category, event.level, event.action, event.tool))
    fields |= _who(event.user_id, event.device_id, event.workspace_id, event.peer)
    fields["ts"] = timestamp(now)
    fields["request_id"] = _plain(event.request_id)
    fields["token_id"] = _plain(event.token_id)
    fields["details"] = _object(event.details, MAX_DEPTH)
    return fields


@lru_cache(maxsize=512)
def _kind(category: str, level: str, action: str, tool: str) -> dict[str, Any]:
    """What happened. There are few different ones; the caller copies."""
    if category not in CATEGORIES or level not in LEVELS:
        raise ValueError(f"no such audit category or level: {category}, {level}")
    return {"category": category, "level": level, "action": _plain(action), "tool": _plain(tool)}


@lru_cache(maxsize=512)
def _who(user_id: str | None, device_id: str | None, workspace_id: str | None, peer: str) -> dict[str, Any]:
    """Who did it. One device asks many times; the caller copies."""
    return {"user_id": _uuid(user_id), "device_id": _uuid(device_id), "workspace_id": _uuid(workspace_id), "peer": _plain(peer)}


_second: tuple[int, str] = (0, "")


def timestamp(now: float) -> str:
    """`2026-01-15T12:30:01.123Z`."""
    global _second  # noqa: PLW0603 - one cached string; a race only formats it twice
    ms = int(now * 1000)
    whole, rest = divmod(ms, 1000)
    cached = _second
    if cached[0] != whole:
        cached = (whole, datetime.fromtimestamp(whole, UTC).strftime("%Y-%m-%dT%H:%M:%S"))
        _second = cached
    return f"{cached[1]}.{rest:03d}Z"


def text(value: str) -> str:
    """Storable in Postgres and in JSON, without secrets, at most MAX_TEXT characters and a mark of what was cut."""
    value = _storable(value)
    if len(value) <= MAX_TEXT:
        return redact(value)
    shown = redact(value[:SCAN_TEXT])[:MAX_TEXT]
    return f"{shown}...(+{len(value) - len(shown)})"


def _storable(value: str) -> str:
    if not value.isascii():
        # lone surrogates (bytes of a file name that are no UTF-8) become visible escapes
        value = value.encode("utf-8", "backslashreplace").decode()
    return value.replace("\0", "\\0") if "\0" in value else value


def _plain(value: str) -> str:
    """A short text of our own making: nothing to hide in it."""
    return value if value.isascii() and len(value) <= MAX_TEXT and "\0" not in value else text(value)


def _value(value: object, depth: int) -> object:
    if isinstance(value, str):
        return text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) <= MAX_INT else str(value)
    if isinstance(value, float):
        return _float(value)
    if depth <= 0:
        return "..."
    if isinstance(value, Mapping):
        return _object(cast("Mapping[object, object]", value), depth)
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, bytes | bytearray):
        items = list(cast("Sequence[object]", value))
        shown = [_value(item, depth - 1) for item in items[:MAX_ITEMS]]
        return shown if len(items) <= MAX_ITEMS else [*shown, f"...(+{len(items) - MAX_ITEMS})"]
    return f"<{type(value).__name__}>"


def _object(value: Mapping[Any, object], depth: int) -> dict[str, object]:
    out: dict[str, object] = {}
    for index, (key, item) in enumerate(value.items()):
        if index == MAX_ITEMS:
            out["..."] = f"(+{len(value) - MAX_ITEMS})"
            break
        name, secret = _name(str(key)[:SCAN_TEXT])
        out[name] = HIDDEN if secret and isinstance(item, str) and item else _value(item, depth - 1)
    return out


@lru_cache(maxsize=1024)
def _name(key: str) -> tuple[str, bool]:
    """The name of a field, and whether its value is a secret as a whole."""
    name = text(key)[:MAX_NAME]
    # RFC 8785 sorts keys by UTF-16 units, orjson by code points
    if not all(ord(char) < SURROGATES for char in name):
        name = name.encode("ascii", "backslashreplace").decode()
    return name, is_secret_name(key)


def _float(value: float) -> object:
    if not abs(value) < MAX_FLOAT:
        return str(value)
    rounded = round(value, DECIMALS)
    return int(rounded) if rounded.is_integer() else rounded


def _uuid(value: str | None) -> str | None:
    return value if value is not None and UUID.match(value) else None
