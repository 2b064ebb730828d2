from __future__ import annotations

import asyncio

import pytest

from handrail.store import accounts, approvals, devices, session
from handrail.store.approvals import NewApproval
from handrail.store.pool import Pool
from tests.support.database import Prepared
from tests.support.parts import pool_of

NOW = 1_800_000_000.0
HASH = "ab" * 32
DEVICE = "00000000-0000-4000-8000-00000000000{}"


async def somebody(pool: Pool, number: int = 1) -> NewApproval:
    """An approval request of a user with a device."""
    owner = await accounts.user(pool, None)
    assert owner
    place = (await accounts.memberships(pool, owner.id))[0]
    device = DEVICE.format(number)
    if device not in [row["device_id"] for row in await devices.of_user(pool, owner.id)]:
        async with session.tenant(pool, owner.id) as connection:
            values = (device, owner.id, place.workspace.id, bytes([number]) * 32)
            await connection.execute(
                b"insert into devices (device_id, user_id, workspace_id, name, token_hash) values (%s, %s, %s, 'd', %s)", values
            )
    return NewApproval(owner.id, device, place.workspace.id, "Bash", HASH, {"command": "true"}, [{"rule": "x"}], "1")


async def take(pool: Pool, new: NewApproval, *, pending_too: bool = False, now: float = NOW, args_hash: str | None = None) -> str | None:
    return await approvals.consume(
        pool, user_id=new.user_id, device_id=new.device_id, args_hash=args_hash or new.args_hash, pending_too=pending_too, now=now
    )


@pytest.fixture(autouse=True)
def _clean(prepared: Prepared) -> None:
    prepared.query(b"delete from approvals")


@pytest.mark.req("ATK-19")
async def test_an_allowed_approval_is_used_exactly_once_by_ten_callers(prepared: Prepared) -> None:
    async with pool_of(prepared, size=6) as pool:
        new = await somebody(pool)
        opened = await approvals.create(pool, new, now=NOW, ttl_s=300)
        assert await take(pool, new) is None
        decided = await approvals.decide(
            pool, user_id=new.user_id, approval_id=opened.id, decision="allowed", decided_by=new.user_id, surface="cli", now=NOW + 1
        )
        assert decided
        taken = await asyncio.gather(*(take(pool, new, now=NOW + 2) for _ in range(10)))
        assert [one for one in taken if one] == [opened.id]


@pytest.mark.req("PG-29")
async def test_the_first_of_two_answers_wins(prepared: Prepared) -> None:
    async with pool_of(prepared, size=4) as pool:
        new = await somebody(pool)
        for _ in range(20):
            opened = await approvals.create(pool, new, now=NOW, ttl_s=300)
            answers = await asyncio.gather(
                *(
                    approvals.decide(
                        pool, user_id=new.user_id, approval_id=opened.id, decision=decision, decided_by=new.user_id, surface="s", now=NOW
                    )
                    for decision in ("allowed", "denied")
                )
            )
            assert sorted(answers) == [False, True]
            row = await approvals.get(pool, user_id=new.user_id, approval_id=opened.id, now=NOW)
            assert row
            assert row["state"] == ("allowed" if answers[0] else "denied")
            await take(pool, new)


@pytest.mark.req("PG-29")
async def test_an_answer_after_the_deadline_changes_nothing(prepared: Prepared) -> None:
    async with pool_of(prepared) as pool:
        new = await somebody(pool)
        opened = await approvals.create(pool, new, now=NOW, ttl_s=300)
        late = NOW + 300
        assert not await approvals.decide(
            pool, user_id=new.user_id, approval_id=opened.id, decision="allowed", decided_by=new.user_id, surface="cli", now=late
        )
        assert await take(pool, new, pending_too=True, now=late) is None
        row = await approvals.get(pool, user_id=new.user_id, approval_id=opened.id, now=late)
        assert row
        assert row["state"] == "expired"
        again = await approvals.create(pool, new, now=late, ttl_s=300)
        assert again.id != opened.id


@pytest.mark.req("ATK-19")
async def test_an_approval_is_for_its_hash_and_its_device_only(prepared: Prepared) -> None:
    async with pool_of(prepared) as pool:
        new, other = await somebody(pool, 1), await somebody(pool, 2)
        await approvals.create(pool, new, now=NOW, ttl_s=300)
        assert await take(pool, new, pending_too=True, args_hash="cd" * 32) is None
        assert await take(pool, other, pending_too=True) is None
        assert await take(pool, new, pending_too=True) is not None


async def test_the_same_question_asked_again_is_the_same_approval(prepared: Prepared) -> None:
    async with pool_of(prepared, size=4) as pool:
        new = await somebody(pool)
        opened = await asyncio.gather(*(approvals.create(pool, new, now=NOW, ttl_s=300) for _ in range(8)))
        assert len({one.id for one in opened}) == 1
        found = await approvals.find_matching_pending(pool, user_id=new.user_id, device_id=new.device_id, args_hash=HASH, now=NOW)
        assert found == opened[0]
        assert [row["approval_id"] for row in await approvals.pending(pool, user_id=new.user_id, now=NOW)] == [opened[0].id]


@pytest.mark.req("ATK-52")
async def test_another_user_neither_sees_nor_decides_it(prepared: Prepared) -> None:
    async with pool_of(prepared) as pool:
        new = await somebody(pool)
        opened = await approvals.create(pool, new, now=NOW, ttl_s=300)
        stranger = await accounts.add_user(pool, "stranger", is_admin=True, is_auditor=False)
        assert stranger
        assert await approvals.get(pool, user_id=stranger, approval_id=opened.id, now=NOW) is None
        assert await approvals.pending(pool, user_id=stranger, now=NOW) == []
        assert not await approvals.decide(
            pool, user_id=stranger, approval_id=opened.id, decision="allowed", decided_by=stranger, surface="cli", now=NOW
        )


async def test_retention_deletes_what_ended_long_ago_and_nothing_else(prepared: Prepared) -> None:
    async with pool_of(prepared) as pool, pool_of(prepared, "worker") as worker:
        new = await somebody(pool)
        await approvals.create(pool, new, now=NOW, ttl_s=300)
        assert await approvals.delete_old(worker, now=NOW + 86400, days=30) == 0
        assert await approvals.delete_old(worker, now=NOW + 31 * 86400, days=30) == 1
