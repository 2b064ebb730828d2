"""The tenant session: the only place that tells the database on whose behalf it works.

Each function opens one transaction, sets one setting for that transaction only, and yields the connection. Row-level
security does the rest: without a bound value there are no rows. BINDINGS lists every setting with what it opens; a test
compares it with the policies in the catalogue.

`begin`, the binding and the first statement travel together (pipeline), so that a bound transaction costs two round trips.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from psycopg import Error, InterfaceError, OperationalError

from handrail.store.errors import StoreUnavailable, UnboundSession
from handrail.store.pool import Busy, Connection, Pool

BINDINGS: dict[str, str] = {
    "app.user_id": "the rows of one user",
    "app.token_hash": "one device, by the SHA-256 of its token",
    "app.code_hash": "one pairing, by the HMAC of its code",
    "app.cookie_hash": "one browser session, by the SHA-256 of its cookie",
    "app.scope": "admin: users, workspaces, members, devices. retention: rows that have ended. system: jobs of no user",
    "app.writer": "one audit writer's own chain",
}
BIND = b"select set_config(%s, %s, true)"


@asynccontextmanager
async def tenant(pool: Pool, user_id: str) -> AsyncGenerator[Connection]:
    """One transaction as `user_id`. Raises UnboundSession for an empty id, StoreUnavailable when the database is away."""
    async with _bound(pool, "app.user_id", user_id) as connection:
        yield connection


@asynccontextmanager
async def token_lookup(pool: Pool, token_hash: bytes) -> AsyncGenerator[Connection]:
    """Before a user is known: sees the device with this token hash and nothing else."""
    async with _bound(pool, "app.token_hash", token_hash.hex()) as connection:
        yield connection


@asynccontextmanager
async def code_lookup(pool: Pool, code_hash: bytes) -> AsyncGenerator[Connection]:
    """Before a user is known: sees the pairings with this code hash and nothing else."""
    async with _bound(pool, "app.code_hash", code_hash.hex()) as connection:
        yield connection


@asynccontextmanager
async def cookie_lookup(pool: Pool, cookie_hash: bytes) -> AsyncGenerator[Connection]:
    """Before a user is known: sees the browser session with this cookie hash and nothing else."""
    async with _bound(pool, "app.cookie_hash", cookie_hash.hex()) as connection:
        yield connection


@asynccontextmanager
async def admin(pool: Pool) -> AsyncGenerator[Connection]:
    """Users, workspaces, members and devices of everybody; no content, approvals, jobs or audit rows."""
    async with _bound(pool, "app.scope", "admin") as connection:
        yield connection


@asynccontextmanager
async def retention(pool: Pool) -> AsyncGenerator[Connection]:
    """Delete what has ended (role handrail_worker)."""
    async with _bound(pool, "app.scope", "retention") as connection:
        yield connection


@asynccontextmanager
async def system(pool: Pool) -> AsyncGenerator[Connection]:
    """Jobs of the service itself, which belong to no user (role handrail_worker)."""
    async with _bound(pool, "app.scope", "system") as connection:
        yield connection


@asynccontextmanager
async def auditor(pool: Pool) -> AsyncGenerator[Connection]:
    """Every audit row, read only: the pool's role must be handrail_audit, for any other role there are none."""
    try:
        async with pool.connection() as connection, connection.transaction():
            await connection.execute(b"set transaction read only")
            yield connection
    except (Busy, OperationalError, InterfaceError) as exc:
        raise StoreUnavailable from exc


async def bind_user(connection: Connection, user_id: str) -> None:
    """Inside a look-up's transaction: go on as the user whose row was found."""
    await connection.execute(BIND, ("app.user_id", _present("app.user_id", user_id)))


async def bind_writer(connection: Connection, writer: str) -> None:
    """An audit writer's own, unpooled connection: the setting stays for its life. It opens that writer's chain only."""
    await connection.execute(b"select set_config('app.writer', %s, false)", (_present("app.writer", writer),))


@asynccontextmanager
async def _bound(pool: Pool, name: str, value: str) -> AsyncGenerator[Connection]:
    present = _present(name, value)
    try:
        async with pool.connection() as connection, connection.pipeline(), connection.transaction():
            await connection.execute(BIND, (name, present))
            yield connection
    except (Busy, OperationalError, InterfaceError) as exc:
        raise StoreUnavailable from exc


def _present(name: str, value: str) -> str:
    if not value:
        raise UnboundSession(what=name)
    return value


__all__ = ["BINDINGS", "Connection", "Error", "Pool", "admin", "auditor", "bind_user", "bind_writer", "tenant"]
