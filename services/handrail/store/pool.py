"""Connections: one pool a process and role, and the rules that every connection of it keeps."""

from __future__ import annotations

import select
from typing import Any

from psycopg import AsyncConnection, Error
from psycopg.conninfo import make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from handrail.store.errors import StoreUnavailable

DictRow = dict[str, Any]  # a row by column name
Connection = AsyncConnection[DictRow]
Pool = AsyncConnectionPool[Connection]
DatabaseError = Error
Busy = PoolTimeout

WAIT_S = 5.0  # for a free connection; then 503
OPEN_S = 30.0  # for the first connection of a pool
KEEPALIVE: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives_idle": 20,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    # a statement of ours takes milliseconds: one that takes 30 s is stuck
    "options": "-c statement_timeout=30000 -c lock_timeout=10000 -c idle_in_transaction_session_timeout=60000",
}


async def open_pool(url: str, *, name: str, min_size: int = 1, max_size: int = 8) -> Pool:
    """An open pool with at least one working connection. Raises StoreUnavailable after OPEN_S."""
    pool: Pool = AsyncConnectionPool(
        make_conninfo(url, application_name=name, **KEEPALIVE),
        connection_class=AsyncConnection[DictRow],
        kwargs={"row_factory": dict_row, "autocommit": True},
        min_size=min_size,
        max_size=max_size,
        timeout=WAIT_S,
        name=name,
        open=False,
        reset=_reset,
        check=_check,
    )
    try:
        await pool.open(wait=True, timeout=OPEN_S)
    except (PoolTimeout, Error) as exc:
        await pool.close()
        raise StoreUnavailable from exc
    return pool


async def connect(url: str, *, name: str, autocommit: bool = True) -> Connection:
    """One connection outside any pool. Raises psycopg.Error."""
    conninfo = make_conninfo(url, application_name=name, **KEEPALIVE)
    return await AsyncConnection[DictRow].connect(conninfo, row_factory=dict_row, autocommit=autocommit)


async def _check(connection: Connection) -> None:
    """Before a connection is handed out: has the server hung up? One poll(2); a round trip only when it said something.

    Raises OperationalError, and the pool makes a new connection.
    """
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    if poll.poll(0):
        await connection.execute(b"")  # an empty query: says whether the server is still there


async def _reset(connection: Connection) -> None:
    """On return to the pool. Every setting of ours is local to a transaction, so it is enough that none is open.

    A connection that comes back inside a transaction may still carry a bound user: it is closed, not mended.
    """
    if connection.info.transaction_status != TransactionStatus.IDLE:
        await connection.close()
