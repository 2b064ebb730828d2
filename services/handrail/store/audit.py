"""The audit tables: append as a writer, read as the user or as the auditor."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from psycopg import Error

from handrail.store import session
from handrail.store.errors import StoreUnavailable
from handrail.store.pool import Connection, DictRow, Pool, connect
from handrail.store.query import as_jsonb, one, rows
from handrail.store.statements import load

SQL = load("audit")
FETCH = 2000  # rows at a time when everything is read


@dataclass(frozen=True, slots=True)
class Filter:
    """Which entries. None does not filter; `since` and `until` bound `ts`, the second exclusively."""

    since: datetime
    until: datetime
    category: str | None = None
    level: str | None = None
    tool: str | None = None
    user_id: str | None = None
    text: str | None = None

    def values(self) -> dict[str, object]:
        """As statement parameters."""
        return {name: getattr(self, name) for name in ("since", "until", "category", "level", "tool", "user_id", "text")}


class Appender:
    """One writer's own connection. Not pooled: it is bound to the writer for its whole life, and opens nothing else.

    `append` commits without waiting for the disk: other sessions see the rows at once, and the writer's journal holds them
    until `position` and `flushed` say that Postgres has them on disk. A server that crashes in between breaks the
    connection, so that the writer appends them again.
    """

    def __init__(self, url: str, writer: str) -> None:
        self._url = url
        self._writer = writer
        self._connection: Connection | None = None
        self._lock = asyncio.Lock()

    async def append(self, lines: Sequence[bytes]) -> None:
        """Commit journal lines. Raises StoreUnavailable; whether they are there is not known then: append them again."""
        batch = b"[%b]" % b",".join(line.rstrip(b"\n") for line in lines)
        await self._execute(SQL["append"], {"batch": batch.decode()})

    async def append_checkpoint(self, values: Mapping[str, object]) -> None:
        """Commit one checkpoint to disk, and with it everything before it. Raises StoreUnavailable."""
        async with self._lock, self._working() as connection:
            await connection.execute(SQL["wait_for_disk"])
            await connection.execute(SQL["append_checkpoint"], {**values, "heads": as_jsonb(values["heads"])})
            await connection.execute(SQL["do_not_wait"])

    async def position(self) -> str:
        """Where the log of the server is now: everything appended so far lies before it. Raises StoreUnavailable."""
        return str(await self._ask(SQL["position"], {}))

    async def flushed(self, position: str) -> bool:
        """Whether everything before `position` is on disk. Raises StoreUnavailable."""
        return bool(await self._ask(SQL["flushed"], {"position": position}))

    async def close(self) -> None:
        async with self._lock:
            await self._drop()

    async def _execute(self, statement: bytes, values: Mapping[str, object]) -> None:
        async with self._lock, self._working() as connection:
            await connection.execute(statement, values, prepare=True)

    async def _ask(self, statement: bytes, values: Mapping[str, object]) -> object:
        async with self._lock, self._working() as connection:
            row = await one(connection, statement, values)
        return row["answer"] if row else None

    @asynccontextmanager
    async def _working(self) -> AsyncGenerator[Connection]:
        """The connection, made when there is none. Whatever goes wrong on it ends it."""
        try:
            if self._connection is None:
                self._connection = await connect(self._url, name=f"handrail-audit-{self._writer}")
                await session.bind_writer(self._connection, self._writer)
                await self._connection.execute(SQL["do_not_wait"])
            yield self._connection
        except (Error, OSError) as exc:
            await self._drop()
            raise StoreUnavailable from exc
        except BaseException:
            await self._drop()  # cancelled half way: the state of the protocol is unknown
            raise

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()


async def heads(audit_pool: Pool) -> list[DictRow]:
    """Where every chain ends: writer, seq, hash."""
    async with session.auditor(audit_pool) as connection:
        return await rows(connection, SQL["heads"])


async def all_rows(audit_pool: Pool) -> AsyncIterator[DictRow]:
    """The whole log in chain order, FETCH rows at a time."""
    async with session.auditor(audit_pool) as connection, connection.cursor("audit_rows") as cursor:
        cursor.itersize = FETCH
        await cursor.execute(SQL["all_rows"])
        async for row in cursor:
            yield row


async def all_checkpoints(audit_pool: Pool) -> list[DictRow]:
    """Every checkpoint in order."""
    async with session.auditor(audit_pool) as connection:
        return await rows(connection, SQL["all_checkpoints"])


async def entries(pool: Pool, user_id: str | None, wanted: Filter, *, limit: int, offset: int) -> tuple[list[DictRow], int]:
    """(entries newest first, total). With `user_id` the user's own rows; with None all of them, `pool` being the auditor's."""
    values = wanted.values() | {"limit": limit, "offset": offset}
    async with session.tenant(pool, user_id) if user_id is not None else session.auditor(pool) as connection:
        found = await rows(connection, SQL["entries"], values)
        total = await one(connection, SQL["count_entries"], values)
    return found, int(total["total"]) if total else 0


async def dates(pool: Pool, user_id: str | None, *, today: str, days: int) -> list[str]:
    """UTC days with entries, newest first; as `entries` for whose."""
    values = {"today": today, "days": days, "user_id": user_id}
    async with session.tenant(pool, user_id) if user_id is not None else session.auditor(pool) as connection:
        return [str(row["day"]) for row in await rows(connection, SQL["dates"], values)]
