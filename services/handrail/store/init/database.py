"""Roles, database, extension and rights. Everything can be run again."""

from __future__ import annotations

import asyncio

from psycopg import OperationalError, sql
from psycopg.errors import DuplicateDatabase, InsufficientPrivilege

from handrail.kit.clock import SYSTEM
from handrail.store.errors import InitFailed
from handrail.store.pool import Connection, connect
from handrail.store.statements import load

SQL = load("init")
NAME = "handrail-init"
OWNER = "handrail_owner"
WAIT_S = 60.0
STEP_S = 0.1


async def wait_for(url: str) -> Connection:
    """A connection as soon as the server takes one. Raises InitFailed after 60 s, at once when the password is wrong."""
    deadline = SYSTEM.monotonic() + WAIT_S
    while True:
        try:
            return await connect(url, name=NAME)
        except OperationalError as exc:
            wrong = "authentication failed" in str(exc)
            if wrong or SYSTEM.monotonic() > deadline:
                raise InitFailed(step="postgres", detail=str(exc).strip().splitlines()[-1]) from exc
        await asyncio.sleep(STEP_S)


async def make_roles(connection: Connection, passwords: dict[str, str]) -> None:
    """Create or correct the roles: they log in, own nothing but the owner's database, and bypass nothing."""
    async with connection.transaction():
        for role, password in passwords.items():
            exists = await (await connection.execute(SQL["role_exists"], {"name": role})).fetchone()
            # only a verifier travels: the password itself would end up in a server log that logs statements
            verifier = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256").decode()
            verb = sql.SQL("alter role" if exists else "create role")
            statement = sql.SQL("{} {} login nosuperuser nobypassrls nocreatedb nocreaterole noinherit noreplication password {}")
            await connection.execute(statement.format(verb, sql.Identifier(role), sql.Literal(verifier)))


async def make_database(connection: Connection, name: str) -> bool:
    """Create the database; True when it was not there. Ordering is by code point everywhere, so that both forms sort alike."""
    if await (await connection.execute(SQL["database_exists"], {"name": name})).fetchone():
        return False
    facts = await (await connection.execute(SQL["is_superuser"])).fetchone()
    if facts is not None and not facts["superuser"]:
        await connection.execute(sql.SQL("grant {} to current_user").format(sql.Identifier(OWNER)))
    statement = sql.SQL("create database {} owner {} template template0 encoding 'UTF8' lc_collate 'C' lc_ctype 'C.UTF-8'")
    try:
        await connection.execute(statement.format(sql.Identifier(name), sql.Identifier(OWNER)))
    except DuplicateDatabase:
        return False  # another init was faster
    return True


async def make_extension(connection: Connection) -> str:
    """`vector` where the server has it: "ready", "created", or why not. Connected to the database itself."""
    if not await (await connection.execute(SQL["vector_available"])).fetchone():
        return "ready"
    try:
        await connection.execute(SQL["create_vector"])
    except InsufficientPrivilege:
        return "no right to create it: ask the server's administrator for `create extension vector`"
    return "created"


async def restrict(connection: Connection, database: str, roles: tuple[str, ...]) -> None:
    """Nobody but our roles connects, and none of them creates objects."""
    name, to = sql.Identifier(database), sql.SQL(", ").join(sql.Identifier(role) for role in roles)
    async with connection.transaction():
        await connection.execute(sql.SQL("revoke all on database {} from public").format(name))
        await connection.execute(sql.SQL("grant connect on database {} to {}").format(name, to))
        await connection.execute(sql.SQL("revoke all on schema public from public"))
        await connection.execute(sql.SQL("grant usage on schema public to {}").format(to))
