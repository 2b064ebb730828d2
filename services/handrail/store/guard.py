"""Checks before a service starts: the role it has is harmless, the schema is the one it was written for."""

from __future__ import annotations

from handrail.store.errors import UnsafeRole, WrongSchema
from handrail.store.migrate import latest
from handrail.store.pool import Connection, Pool
from handrail.store.statements import load

SQL = load("guard")
WHY = {
    "superuser": "is a superuser",
    "bypasses": "may bypass row-level security",
    "creates": "may create roles or databases",
    "owns": "owns tables",
}


async def check(pool: Pool) -> None:
    """Both checks on a pooled connection. Raises UnsafeRole, WrongSchema."""
    async with pool.connection() as connection:
        await check_role(connection)
        await check_schema(connection)


async def check_role(connection: Connection) -> None:
    """Raises UnsafeRole when the role is superuser, may bypass RLS, may create roles, or owns tables (itself or by membership)."""
    row = await (await connection.execute(SQL["role_facts"])).fetchone()
    if row is None:
        raise UnsafeRole(role="?", why="does not exist")
    for fact, why in WHY.items():
        if row[fact]:
            raise UnsafeRole(role=row["role"], why=why)


async def check_schema(connection: Connection) -> None:
    """Raises WrongSchema unless the last migration that ran is the last one that this program knows."""
    exists = await (await connection.execute(SQL["has_migrations"])).fetchone()
    found = 0
    if exists is not None and exists["present"]:
        row = await (await connection.execute(SQL["schema_version"])).fetchone()
        found = int(row["number"] or 0) if row else 0
    if found != latest():
        raise WrongSchema(found=found, expected=latest())
