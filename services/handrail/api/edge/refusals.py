"""Refusals at the edge become audit rows, at most a few a second, and never delay the answer."""

from __future__ import annotations

import asyncio
from typing import Protocol

import structlog

from handrail.api.audit.events import AuditEvent
from handrail.api.context import Identity
from handrail.contract.errors import HandrailError

log = structlog.get_logger("handrail.edge")
QUEUE = 256  # refusals that wait to be written; more are counted and summed up in one row


class EffectLog(Protocol):
    """The audit log's durable write."""

    async def effect(self, event: AuditEvent) -> str: ...


class Refusals:
    """Collects refusals and writes them in the background. A flood becomes one row with a count."""

    def __init__(self, audit: EffectLog) -> None:
        self._audit = audit
        self._queue: asyncio.Queue[AuditEvent] = asyncio.Queue(QUEUE)
        self._dropped = 0

    def __call__(self, exc: HandrailError, *, path: str, peer: str, request_id: str, identity: Identity | None) -> None:
        """Take note of one refusal. Never blocks."""
        event = AuditEvent(
            category="security",
            action=exc.code,
            level="warn",
            user_id=identity.user_id if identity else None,
            device_id=identity.device_id if identity else None,
            workspace_id=identity.workspace.id if identity else None,
            peer=peer,
            request_id=request_id,
            details={"path": path[:200], "status": exc.status},
        )
        try:
            self._queue.put_nowait(event)
        except asyncio.QueueFull:
            self._dropped += 1

    async def run(self) -> None:
        """Write what was collected until cancelled."""
        while True:
            await self._write(await self._queue.get())
            if self._dropped and self._queue.empty():
                count, self._dropped = self._dropped, 0
                await self._write(AuditEvent(category="security", action="refusals_dropped", level="warn", details={"count": count}))

    async def _write(self, event: AuditEvent) -> None:
        try:
            await self._audit.effect(event)
        except HandrailError:
            # the refusal itself already happened; that its record is missing is said on stderr
            log.exception("a refusal could not be recorded", action=event.action)
