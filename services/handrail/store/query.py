"""The shapes of a query: one row, all rows, none."""

from __future__ import annotations

from collections.abc import Mapping

from psycopg.types.json import Jsonb

from handrail.store.pool import Connection, DictRow


async def one(connection: Connection, statement: bytes, values: Mapping[str, object] | None = None) -> DictRow | None:
    """The first row, or None."""
    return await (await connection.execute(statement, values)).fetchone()


async def rows(connection: Connection, statement: bytes, values: Mapping[str, object] | None = None) -> list[DictRow]:
    """Every row."""
    return await (await connection.execute(statement, values)).fetchall()


async def run(connection: Connection, statement: bytes, values: Mapping[str, object] | None = None) -> None:
    """A statement without rows. In a session its error is raised at the latest when the session ends."""
    await connection.execute(statement, values)


def as_jsonb(value: object) -> Jsonb:
    """A value for a jsonb parameter."""
    return Jsonb(value)
