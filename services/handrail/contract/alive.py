"""Signs of life of the parts that answer no HTTP: keys in the broker, written by worker and beat, read by the api."""

from __future__ import annotations

from typing import Literal, get_args

Part = Literal["worker", "beat"]
PARTS: tuple[Part, ...] = get_args(Part)
EXPIRY_S = 20  # a part that gave no sign for so long counts as down


def key(part: str) -> str:
    """Name of the key; its value is seconds since the epoch of the last sign."""
    return f"handrail:alive:{part}"
