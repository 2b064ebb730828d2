"""Parts of the api on a prepared database, opened and closed by `async with`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from redis.asyncio import Redis

from handrail.api.accounts.service import Accounts
from handrail.api.audit.events import AuditEvent
from handrail.api.audit.service import Audit
from handrail.contract.errors import Lang
from handrail.kit.canonical import loads
from handrail.kit.clock import SYSTEM, Clock
from handrail.kit.droplines import DropLines
from handrail.store.pool import Pool, open_pool
from tests.support.database import Prepared
from tests.support.wait import STEP_S


async def eventually(condition: Callable[[], object], what: str, timeout_s: float = 10.0) -> None:
    """Let the event loop work until `condition` holds; fail with `what` after `timeout_s`."""
    deadline = SYSTEM.monotonic() + timeout_s
    while not condition():
        assert SYSTEM.monotonic() < deadline, f"not within {timeout_s:g} s: {what}"
        await asyncio.sleep(STEP_S)


@asynccontextmanager
async def pool_of(prepared: Prepared, zone: str = "api", name: str = "database_url", *, size: int = 4) -> AsyncGenerator[Pool]:
    pool = await open_pool(prepared.url(zone, name), name="tests", max_size=size)
    try:
        yield pool
    finally:
        await pool.close()


@asynccontextmanager
async def redis_of(prepared: Prepared) -> AsyncGenerator[Redis]:
    client = cast("Any", Redis).from_url(prepared.url("api", "broker_url"))
    try:
        yield client
    finally:
        await client.aclose()


def audit_keys(prepared: Prepared) -> dict[str, object]:
    return cast("dict[str, object]", loads(prepared.url("api", "audit.json")))


@asynccontextmanager
async def audit_of(prepared: Prepared, base: Path, *, lang: Lang = "en", clock: Clock = SYSTEM) -> AsyncGenerator[Audit]:
    """A started audit log below `base`: journal/, logs/, and its terminal lines in terminal.txt."""
    os.makedirs(base, exist_ok=True)
    fd = os.open(base / "terminal.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    async with pool_of(prepared) as pool, pool_of(prepared, name="audit_database_url", size=2) as audit_pool:
        audit = Audit(
            database_url=prepared.url("api"),
            pool=pool,
            audit_pool=audit_pool,
            journal_dir=base / "journal",
            log_dir=base / "logs",
            keys=audit_keys(prepared),
            lang=lang,
            clock=clock,
            terminal=DropLines(fd),
        )
        await audit.start()
        try:
            yield audit
        finally:
            await audit.stop()
            os.close(fd)


class ListedAudit:
    """An audit log that keeps its events in a list. `broken` refuses every effect."""

    def __init__(self) -> None:
        self.events: list[AuditEvent] = []
        self.broken: Exception | None = None

    async def effect(self, event: AuditEvent) -> str:
        if self.broken:
            raise self.broken
        self.events.append(event)
        return str(len(self.events))

    def read(self, event: AuditEvent) -> None:
        self.events.append(event)

    def actions(self) -> list[str]:
        return [event.action for event in self.events]


@asynccontextmanager
async def accounts_of(
    prepared: Prepared, *, audit: ListedAudit | Audit | None = None, clock: Clock = SYSTEM, ttl_s: int = 30
) -> AsyncGenerator[Accounts]:
    """Started accounts: one replica."""
    async with pool_of(prepared) as pool, redis_of(prepared) as redis:
        accounts = Accounts(
            pool=pool,
            redis=redis,
            audit=audit or ListedAudit(),
            pepper=bytes.fromhex(prepared.url("api", "pepper")),
            code_ttl_s=ttl_s,
            clock=clock,
        )
        await accounts.start()
        try:
            yield accounts
        finally:
            await accounts.stop()
