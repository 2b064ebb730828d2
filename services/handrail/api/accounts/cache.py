"""Identities by token hash, for as long as nothing says otherwise.

Nothing is kept while the channel that brings revocations is down (`enabled` is false), and a look-up that was under way
when a revocation came in does not put its answer here (`generation`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from handrail.api.context import Identity

MAX_ENTRIES = 10_000


@dataclass(slots=True)
class Entry:
    """A cached identity; `touch_at` is the monotonic second after which the device is noted as seen again."""

    identity: Identity
    touch_at: float


class IdentityCache:
    """A bounded map; the oldest entry goes first."""

    def __init__(self) -> None:
        self._entries: dict[bytes, Entry] = {}
        self.enabled = False
        self.generation = 0

    def get(self, token_hash: bytes) -> Entry | None:
        """The entry, or None."""
        return self._entries.get(token_hash)

    def put(self, token_hash: bytes, entry: Entry, *, generation: int) -> None:
        """Keep the entry unless something was revoked since `generation` was read."""
        if not self.enabled or generation != self.generation:
            return
        while len(self._entries) >= MAX_ENTRIES:
            del self._entries[next(iter(self._entries))]
        self._entries[token_hash] = entry

    def drop(self, condition: Callable[[Identity], bool]) -> list[Identity]:
        """Forget the identities for which `condition` holds; returns them."""
        self.generation += 1
        gone = [key for key, entry in self._entries.items() if condition(entry.identity)]
        return [self._entries.pop(key).identity for key in gone]

    def disable(self) -> None:
        """The channel is down: forget everything and keep nothing."""
        self.enabled = False
        self.generation += 1
        self._entries.clear()

    def enable(self) -> None:
        """The channel is up."""
        self.generation += 1
        self.enabled = True

    def __len__(self) -> int:
        return len(self._entries)
