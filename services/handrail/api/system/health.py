"""The state of the parts this process depends on, asked at most once a second."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import ClassVar

import structlog

from handrail.kit.clock import Clock

log = structlog.get_logger("handrail.health")
CACHE_S = 1.0
PATIENCE_S = 2.0

Probe = Callable[[], Awaitable[None]]


class Health:
    """Probes by part name. A probe that returns is "ok"; one that raises or takes longer than 2 s is "down"."""

    REQUIRED: ClassVar[frozenset[str]] = frozenset({"database", "broker", "audit", "sandbox"})

    def __init__(self, probes: Mapping[str, Probe], clock: Clock) -> None:
        self._probes = dict(probes)
        self._clock = clock
        self._at = float("-inf")
        self._parts: dict[str, str] = {}
        self._lock = asyncio.Lock()

    async def parts(self) -> dict[str, str]:
        """State by part."""
        async with self._lock:
            if self._clock.monotonic() - self._at > CACHE_S:
                names = list(self._probes)
                states = await asyncio.gather(*(self._ask(name) for name in names))
                self._parts = dict(zip(names, states, strict=True))
                self._at = self._clock.monotonic()
        return dict(self._parts)

    async def _ask(self, name: str) -> str:
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._probes[name]()
        except Exception as exc:  # noqa: BLE001 - whatever a part fails with, it is down; the log has the reason
            if self._parts.get(name) == "ok":  # once a failure; what has not been up yet is on its way
                log.warning("part is down", part=name, error=type(exc).__name__, detail=str(exc)[:200])
            return "down"
        return "ok"
