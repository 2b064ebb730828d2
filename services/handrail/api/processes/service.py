"""Commands as the wire sees them: the list, the stop, and the live stream with its replay."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

import structlog

from handrail.api.accounts.service import Accounts
from handrail.api.context import Actor
from handrail.api.gate.service import Gate
from handrail.api.processes.client import SandboxClient
from handrail.contract import sandbox as wire
from handrail.contract.errors import HandrailError
from handrail.kit.clock import SYSTEM, Clock

log = structlog.get_logger("handrail.processes")
PERMIT_S = 45.0  # a reading permission lasts 60 s and is renewed before
POLL_MS = 25_000
"""One long poll; between two the stream looks whether it still may read."""


class Closable(Protocol):
    """A stream that can be ended from outside."""

    def __call__(self) -> None: ...


@dataclass(frozen=True, slots=True)
class _Watcher:
    device_id: str
    close: Closable


class Processes:
    """Reads of commands, and the streams that are open in this process."""

    def __init__(self, gate: Gate, sandbox: SandboxClient, accounts: Accounts, clock: Clock = SYSTEM) -> None:
        self._clock = clock
        self._gate = gate
        self._sandbox = sandbox
        self._watchers: set[_Watcher] = set()
        accounts.on_revoked(self.close_for)

    async def running(self, actor: Actor) -> list[dict[str, object]]:
        """The user's running commands in this workspace, shaped as the wire's `runningProcesses`; [] when the sandbox is away."""
        try:
            result = await self._gate.call(actor, wire.TOOL_LIST, {})
        except HandrailError as exc:
            log.warning("running commands not known", code=exc.code)
            return []
        rows: list[wire.ProcessRow] = result["processes"]
        return [
            {
                "execId": row["exec_id"],
                "pid": row["pid"],
                "command": row["command"],
                "cwd": row["cwd"],
                "state": row["state"],
                "startTime": row["start_time"],
                "duration": int(row["duration_ms"]),
                "timeoutMs": row["timeout_ms"],
            }
            for row in rows
        ]

    async def pages(self, actor: Actor, exec_id: str) -> AsyncIterator[wire.OutputAnswer]:
        """Every page of a command's output from its first byte on, then as it comes; the last one has an `exit_code`.

        The next page is asked for when this one is taken: a slow reader costs nothing here.
        Raises HandrailError: 404 for an unknown command and for another user's.
        """
        cursor = 0
        permit, until = "", 0.0
        while True:
            if self._clock.monotonic() >= until:
                result = await self._gate.call(actor, wire.TOOL_READ, {"exec_id": exec_id, "attach": True})
                permit, until = str(result["token"]), self._clock.monotonic() + PERMIT_S
            wait_ms = int(min(POLL_MS, (until - self._clock.monotonic()) * 1000))
            page = await self._sandbox.output(permit, exec_id, cursor, max(wait_ms, 0))
            cursor = page["next"]
            yield page
            if page["exit_code"] is not None and not page["has_more"]:
                return

    @asynccontextmanager
    async def watching(self, actor: Actor, close: Closable) -> AsyncGenerator[None]:
        """While inside, `close` is called when the actor's device is revoked."""
        watcher = _Watcher(actor.identity.device_id, close)
        self._watchers.add(watcher)
        try:
            yield
        finally:
            self._watchers.discard(watcher)

    def close_for(self, device_id: str) -> None:
        """End every open stream of a device whose token ended."""
        for watcher in tuple(self._watchers):
            if watcher.device_id == device_id:
                watcher.close()


async def until_closed(closed: asyncio.Event, work: Callable[[], Awaitable[None]]) -> None:
    """Run `work` until it ends or `closed` is set; whatever is left of it is cancelled."""
    task = asyncio.ensure_future(work())
    gate = asyncio.ensure_future(closed.wait())
    try:
        await asyncio.wait({task, gate}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
    finally:
        for other in (task, gate):
            other.cancel()
        await asyncio.gather(task, gate, return_exceptions=True)
