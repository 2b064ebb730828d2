"""Migrations: plain SQL files `NNNN-name.pre.sql` and `NNNN-name.post.sql`, run in order, each in one transaction.

`pre` only adds (old code still runs beside it), `post` tidies up once no old code is left. `schema.sql` is their sum and a
test proves it. A file that ran is never edited: its SHA-256 is recorded and compared.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from handrail.store.errors import EditedMigration
from handrail.store.pool import Connection
from handrail.store.statements import load

Phase = Literal["pre", "post"]
PHASES: tuple[Phase, ...] = ("pre", "post")
FILE = re.compile(r"(\d{4})-([a-z0-9-]+)\.(pre|post)\.sql")
SQL = load("migrate")


@dataclass(frozen=True, slots=True)
class Migration:
    """One half of a numbered migration."""

    number: int
    phase: Phase
    name: str
    sql: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.sql).hexdigest()

    @property
    def label(self) -> str:
        return f"{self.number:04d}-{self.name}.{self.phase}"


@cache
def migrations() -> tuple[Migration, ...]:
    """Every half in the order in which they run. Raises ValueError when a pair is not complete or a number is missing."""
    found: list[Migration] = []
    for entry in resources.files("handrail.store").joinpath("migrations").iterdir():
        match = FILE.fullmatch(entry.name)
        if match:
            phase: Phase = "pre" if match[3] == "pre" else "post"
            found.append(Migration(int(match[1]), phase, match[2], entry.read_bytes()))
    found.sort(key=lambda m: (m.number, PHASES.index(m.phase)))
    numbers = [m.number for m in found]
    if numbers != [n for n in range(1, len(found) // 2 + 1) for _ in PHASES]:
        raise ValueError(f"migrations must be numbered pairs from 0001: {numbers}")
    return tuple(found)


def latest() -> int:
    """The number that a fully migrated database is at."""
    return migrations()[-1].number


async def migrate(connection: Connection, *, phases: tuple[Phase, ...] = PHASES) -> list[str]:
    """Run what has not run and return the labels. Safe to start several times at once (advisory lock).

    `connection` is the owner's, in autocommit mode. Raises EditedMigration; psycopg.Error when a statement fails, and then
    nothing of that file has happened.
    """
    await connection.execute(SQL["lock"])
    try:
        await connection.execute(SQL["table"])
        await connection.execute(SQL["grant"])
        done = {(row["number"], row["phase"]): row["sha256"] async for row in await connection.execute(SQL["applied"])}
        ran: list[str] = []
        for migration in migrations():
            known = done.get((migration.number, migration.phase))
            if known is not None and known != migration.sha256:
                raise EditedMigration(name=migration.label)
            if known is None and migration.phase in phases:
                await _run(connection, migration)
                ran.append(migration.label)
        return ran
    finally:
        await connection.execute(SQL["unlock"])


async def _run(connection: Connection, migration: Migration) -> None:
    async with connection.transaction():
        await connection.execute(migration.sql)
        values = {"number": migration.number, "phase": migration.phase, "name": migration.name, "sha256": migration.sha256}
        await connection.execute(SQL["record"], values)
