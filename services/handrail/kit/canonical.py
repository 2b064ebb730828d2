"""Strict JSON in and canonical JSON (RFC 8785) out: the one parser for what a client sends, the one hash of arguments."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any, NoReturn, cast

import rfc8785

MAX_DEPTH = 64  # nested arrays/objects; more is refused
MAX_SAFE_INT = 2**53 - 1  # RFC 8785 numbers are IEEE 754 doubles
MAX_INT_CHARS = 17  # a sign and the 16 digits of MAX_SAFE_INT


class StrictJsonError(ValueError):
    """The text is not JSON that we accept. The message says why and is fit for the user."""


def loads(raw: bytes | str) -> Any:  # noqa: ANN401 - JSON is any of six types
    """Parse one JSON text. Refuses invalid UTF-8, duplicate keys, NaN/Infinity, lone surrogates, depth over 64.

    Raises StrictJsonError.
    """
    try:
        text = raw.decode("utf-8") if isinstance(raw, bytes) else raw
    except UnicodeDecodeError as exc:
        raise StrictJsonError("not UTF-8") from exc
    _check_depth(text)
    try:
        value = _decoder.decode(text)
    except StrictJsonError:
        raise
    except ValueError as exc:
        message = exc.msg if isinstance(exc, json.JSONDecodeError) else "not acceptable"
        raise StrictJsonError(message) from exc
    if "\\u" in text:
        _check_surrogates(value)
    return value


def canonical(value: object) -> bytes:
    """The RFC 8785 form. Raises StrictJsonError for what has none (NaN, integers beyond 2^53, other types)."""
    try:
        return rfc8785.dumps(value)  # type: ignore[arg-type]  # its alias of JSON types is stricter than `object`
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as exc:
        raise StrictJsonError(str(exc)) from exc


def sha256(value: object) -> str:
    """Hex SHA-256 of the canonical form: what a capability token binds."""
    return hashlib.sha256(canonical(value)).hexdigest()


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise StrictJsonError("duplicate key")
    return out


def _constant(name: str) -> NoReturn:
    raise StrictJsonError(f"{name} is not a JSON number")


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise StrictJsonError("number out of range")
    return value


def _int(text: str) -> int:
    if len(text) > MAX_INT_CHARS or abs(value := int(text)) > MAX_SAFE_INT:
        raise StrictJsonError("integer out of range")
    return value


# made once: json.loads would make one for each text
_decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float, parse_int=_int)


def _check_depth(text: str) -> None:
    # cheap upper bound first: brackets inside strings only make it larger
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    in_string = escaped = False
    for char in text:
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise StrictJsonError("nested too deeply")
        elif char in "]}":
            depth -= 1


def _check_surrogates(value: object) -> None:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            try:
                item.encode("utf-8")
            except UnicodeEncodeError as exc:
                raise StrictJsonError("lone surrogate") from exc
        elif isinstance(item, dict):
            pairs = cast("dict[object, object]", item)
            stack.extend(pairs.keys())
            stack.extend(pairs.values())
        elif isinstance(item, list):
            stack.extend(cast("list[object]", item))
