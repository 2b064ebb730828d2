from __future__ import annotations

import asyncio
from importlib import resources

import psycopg
import pytest

from handrail.cli.embedded import binaries
from handrail.jail import spawn
from handrail.store.errors import EditedMigration
from handrail.store.migrate import migrate, migrations
from handrail.store.pool import connect
from tests.support.database import Prepared
from tests.support.servers import Postgres

pytestmark = pytest.mark.req("P4")


def dump(url: str) -> str:
    """The schema as pg_dump writes it, without what differs by run."""
    argv = [str(binaries.postgres_bin() / "pg_dump"), "--schema-only", "--no-owner", "--exclude-table=handrail_migrations", url]
    done = spawn.run(argv, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}, cwd="/", timeout_s=60)
    assert done.code == 0, done.stderr
    return "\n".join(line for line in done.stdout.decode().splitlines() if line and not line.startswith(("--", "\\", "SET ", "SELECT ")))


def test_schema_sql_is_the_sum_of_all_migrations(prepared: Prepared, postgres: Postgres, empty_database: str) -> None:
    schema = resources.files("handrail.store").joinpath("migrations", "schema.sql").read_bytes()
    with psycopg.connect(empty_database, autocommit=True) as connection:
        connection.execute(b"create extension if not exists vector")
        connection.execute(b"revoke all on schema public from public")
        connection.execute(b"grant usage on schema public to handrail_owner, handrail_api, handrail_worker, handrail_audit")
        connection.execute(schema)
    assert dump(empty_database) == dump(prepared.superuser_url)


async def test_a_second_run_does_nothing(prepared: Prepared) -> None:
    async with await connect(prepared.url("init", "owner_database_url"), name="tests") as owner:
        assert await migrate(owner) == []


async def test_two_runs_at_once_run_each_migration_once(prepared: Prepared, postgres: Postgres) -> None:
    name = "two_runs"
    postgres.drop(name)
    url = postgres.create(name)
    try:

        async def one() -> list[str]:
            async with await connect(url, name="tests") as connection:
                return await migrate(connection)

        first, second = await asyncio.gather(one(), one())
        assert sorted(first + second) == sorted(m.label for m in migrations())
    finally:
        postgres.drop(name)


async def test_a_migration_that_was_edited_after_it_ran_is_an_error(prepared: Prepared) -> None:
    prepared.query(b"update handrail_migrations set sha256 = 'other' where number = 1 and phase = 'pre'")
    try:
        async with await connect(prepared.url("init", "owner_database_url"), name="tests") as owner:
            with pytest.raises(EditedMigration, match="0001"):
                await migrate(owner)
    finally:
        digest = migrations()[0].sha256
        prepared.query(b"update handrail_migrations set sha256 = %(sha)s where number = 1 and phase = 'pre'", {"sha": digest})
