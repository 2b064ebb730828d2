from __future__ import annotations

import asyncio
import random

import pytest

from handrail.store import accounts as store
from handrail.store import session
from handrail.store.errors import StoreUnavailable, UnboundSession
from handrail.store.pool import Pool
from tests.support.database import Prepared
from tests.support.parts import pool_of
from tests.support.wait import until

USERS = 3
TASKS = 8
ROUNDS = 60
ADD = b"insert into jobs (user_id, kind) values (%s, 'test')"
GONE = b"select 1 as x where not exists (select from pg_stat_activity where pid = %(pid)s)"
OWN = b"select user_id::text as user_id from jobs"


def interrupt_sometimes(choose: random.Random) -> None:
    """As when a client goes away in the middle."""
    if choose.random() < 0.2:
        raise InterruptedError


async def make_users(pool: Pool) -> list[str]:
    found = [await store.user(pool, f"user{number}") for number in range(USERS)]
    ids: list[str] = []
    for number, known in enumerate(found):
        added = known.id if known else await store.add_user(pool, f"user{number}", is_admin=False, is_auditor=False)
        assert added
        ids.append(added)
    return ids


@pytest.mark.req("B5", "PG-5", "ATK-52")
async def test_eight_tasks_as_three_users_on_four_connections_see_no_foreign_row(prepared: Prepared) -> None:
    async with pool_of(prepared, size=4) as pool:
        users = await make_users(pool)
        for user in users:
            async with session.tenant(pool, user) as connection:
                await connection.execute(ADD, (user,))
        seen: list[tuple[str, str]] = []

        async def work(seed: int) -> None:
            choose = random.Random(seed)
            for _ in range(ROUNDS):
                user = choose.choice(users)
                try:
                    async with session.tenant(pool, user) as connection:
                        rows = await (await connection.execute(OWN)).fetchall()
                        seen.extend((user, row["user_id"]) for row in rows)
                        interrupt_sometimes(choose)
                except InterruptedError:
                    continue

        await asyncio.gather(*(work(seed) for seed in range(TASKS)))
        assert len(seen) >= TASKS * ROUNDS
        assert [pair for pair in seen if pair[0] != pair[1]] == []


@pytest.mark.req("PG-5")
async def test_a_returned_connection_is_bound_to_nobody(prepared: Prepared) -> None:
    async with pool_of(prepared, size=1) as pool:
        user = (await make_users(pool))[0]
        async with session.tenant(pool, user) as connection:
            await connection.execute(ADD, (user,))
        async with session.token_lookup(pool, b"\x01" * 32) as connection:
            assert await (await connection.execute(b"select 1 as x from devices")).fetchall() == []
        async with pool.connection() as connection:
            for name in session.BINDINGS:
                row = await (await connection.execute(b"select current_setting(%s, true) as value", (name,))).fetchone()
                assert row is not None
                assert not row["value"], name
            assert await (await connection.execute(OWN)).fetchall() == []


@pytest.mark.req("B5")
async def test_a_write_as_one_user_for_another_is_refused(prepared: Prepared) -> None:
    async with pool_of(prepared) as pool:
        first, second, _ = await make_users(pool)
        with pytest.raises(session.Error, match="row-level security"):
            async with session.tenant(pool, first) as connection:
                await connection.execute(ADD, (second,))
        assert prepared.query(b"select 1 from jobs where user_id = %(id)s and kind = 'foreign'", {"id": second}) == []


@pytest.mark.req("B5")
async def test_without_a_bound_value_there_are_no_rows_in_any_table(prepared: Prepared) -> None:
    async with pool_of(prepared) as pool, pool.connection() as connection:
        tables = (
            "users",
            "workspaces",
            "members",
            "devices",
            "pairings",
            "sessions",
            "approvals",
            "jobs",
            "audit_log",
            "audit_checkpoints",
        )
        for table in tables:
            rows = await (await connection.execute(b"select * from " + table.encode())).fetchall()
            assert rows == [], table
        await connection.execute(b"select set_config('app.user_id', '', false)")
        assert await (await connection.execute(OWN)).fetchall() == []


@pytest.mark.req("PG-5")
async def test_a_session_without_its_value_is_refused_before_it_reaches_the_database(prepared: Prepared) -> None:
    async with pool_of(prepared) as pool:
        with pytest.raises(UnboundSession):
            async with session.tenant(pool, ""):
                pass
        with pytest.raises(UnboundSession):
            async with session.token_lookup(pool, b""):
                pass


@pytest.mark.req("B5")
async def test_the_admin_session_sees_accounts_but_no_content(prepared: Prepared) -> None:
    async with pool_of(prepared) as pool:
        user = (await make_users(pool))[0]
        async with session.tenant(pool, user) as connection:
            await connection.execute(ADD, (user,))
        async with session.admin(pool) as connection:
            assert len(await (await connection.execute(b"select 1 as x from users")).fetchall()) >= USERS
            for table in (b"jobs", b"approvals", b"pairings", b"sessions", b"audit_log"):
                assert await (await connection.execute(b"select 1 as x from " + table)).fetchall() == []


async def test_a_connection_that_the_server_cut_is_replaced_without_an_error(prepared: Prepared) -> None:
    async with pool_of(prepared, size=1) as pool:
        user = (await make_users(pool))[0]
        async with pool.connection() as connection:
            pid = connection.info.backend_pid
        prepared.query(b"select pg_terminate_backend(%(pid)s)", {"pid": pid})
        until(lambda: prepared.query(GONE, {"pid": pid}), "the backend is gone")
        async with session.tenant(pool, user) as connection:
            assert connection.info.backend_pid != pid


async def test_a_database_that_is_away_is_a_503(prepared: Prepared) -> None:
    async with pool_of(prepared, size=1) as pool:
        user = (await make_users(pool))[0]
        with pytest.raises(StoreUnavailable):
            await cut_in_the_middle(pool, user, prepared)


async def cut_in_the_middle(pool: Pool, user: str, prepared: Prepared) -> None:
    async with session.tenant(pool, user) as connection:
        prepared.query(b"select pg_terminate_backend(%(pid)s)", {"pid": connection.info.backend_pid})
        await (await connection.execute(OWN)).fetchall()
