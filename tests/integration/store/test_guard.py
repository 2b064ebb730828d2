from __future__ import annotations

import pytest

from handrail.store import guard
from handrail.store.errors import UnsafeRole, WrongSchema
from handrail.store.pool import open_pool
from tests.support.database import Prepared
from tests.support.parts import pool_of

pytestmark = pytest.mark.req("P4", "PG-16")


@pytest.mark.parametrize("name", ["database_url", "audit_database_url"])
async def test_our_own_roles_are_harmless(prepared: Prepared, name: str) -> None:
    async with pool_of(prepared, name=name) as pool:
        await guard.check(pool)


async def test_a_superuser_is_refused(prepared: Prepared) -> None:
    pool = await open_pool(prepared.superuser_url, name="tests", max_size=1)
    try:
        with pytest.raises(UnsafeRole, match="superuser"):
            await guard.check(pool)
    finally:
        await pool.close()


async def test_the_owner_of_the_tables_is_refused(prepared: Prepared) -> None:
    async with pool_of(prepared, "init", "owner_database_url") as pool:
        with pytest.raises(UnsafeRole, match="owns tables"):
            await guard.check(pool)


async def test_a_role_that_may_bypass_the_policies_is_refused(prepared: Prepared) -> None:
    prepared.query(b"alter role handrail_worker bypassrls")
    try:
        async with pool_of(prepared, "worker") as pool:
            with pytest.raises(UnsafeRole, match="bypass"):
                await guard.check(pool)
    finally:
        prepared.query(b"alter role handrail_worker nobypassrls")


async def test_a_member_of_the_owner_is_refused(prepared: Prepared) -> None:
    prepared.query(b"grant handrail_owner to handrail_worker")
    try:
        async with pool_of(prepared, "worker") as pool:
            with pytest.raises(UnsafeRole, match="owns tables"):
                await guard.check(pool)
    finally:
        prepared.query(b"revoke handrail_owner from handrail_worker")


async def test_a_schema_of_another_version_is_refused(prepared: Prepared) -> None:
    prepared.query(b"insert into handrail_migrations (number, phase, name, sha256) values (9999, 'post', 'future', '')")
    try:
        async with pool_of(prepared) as pool:
            with pytest.raises(WrongSchema, match="9999"):
                await guard.check(pool)
    finally:
        prepared.query(b"delete from handrail_migrations where number = 9999")


async def test_a_database_without_tables_is_refused(prepared: Prepared, empty_database: str) -> None:
    pool = await open_pool(empty_database, name="tests", max_size=1)
    try:
        async with pool.connection() as connection:
            with pytest.raises(WrongSchema, match="version 0"):
                await guard.check_schema(connection)
    finally:
        await pool.close()
