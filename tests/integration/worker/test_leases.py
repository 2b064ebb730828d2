from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from handrail.store import jobs
from handrail.store.pool import Pool, open_pool
from tests.support.database import Prepared

NOW = 1_800_000_000.0
LEASE_S = 10.0


@pytest_asyncio.fixture
async def pool(prepared: Prepared) -> AsyncGenerator[Pool]:
    pool = await open_pool(prepared.url("worker"), name="test", max_size=8)
    yield pool
    await pool.close()


async def queued(pool: Pool) -> str:
    job_id = str(uuid.uuid4())
    await jobs.create(pool, job_id=job_id, kind="x", arguments={"a": 1}, now=NOW)
    return job_id


async def take(pool: Pool, job_id: str, at: float = NOW, owner: str = "w") -> jobs.Lease | None:
    return await jobs.take(pool, job_id=job_id, user_id=None, owner=owner, lease_s=LEASE_S, now=at)


@pytest.mark.req("JOB-1")
async def test_one_of_eight_workers_at_once_gets_the_lease(pool: Pool) -> None:
    job_id = await queued(pool)
    leases = await asyncio.gather(*(take(pool, job_id, owner=f"w{number}") for number in range(8)))
    assert len([lease for lease in leases if lease]) == 1


@pytest.mark.req("JOB-1")
async def test_an_overtaken_worker_can_write_nothing(pool: Pool) -> None:
    job_id = await queued(pool)
    old = await take(pool, job_id)
    assert old is not None
    assert await take(pool, job_id, NOW + LEASE_S - 1) is None
    new = await take(pool, job_id, NOW + LEASE_S)
    assert new is not None
    assert (old.fence, new.fence, new.attempts) == (1, 2, 2)
    assert await jobs.renew(pool, old, lease_s=LEASE_S, now=NOW + 11) is None
    assert await jobs.progress(pool, old, {"done": 1}) is None
    assert await jobs.finish(pool, old, "failed", now=NOW + 11) is False
    assert await jobs.release(pool, old) is False
    assert await jobs.finish(pool, new, "succeeded", now=NOW + 12, result={"ok": True}) is True
    row = await jobs.get(pool, job_id=job_id, user_id=None)
    assert row is not None
    assert (row["state"], row["result"], row["progress"], row["finished_at"]) == ("succeeded", {"ok": True}, {}, NOW + 12)


@pytest.mark.req("JOB-1")
async def test_a_job_that_is_over_is_never_taken_again(pool: Pool) -> None:
    job_id = await queued(pool)
    lease = await take(pool, job_id)
    assert lease is not None
    await jobs.finish(pool, lease, "succeeded", now=NOW)
    assert await take(pool, job_id, NOW + 10 * LEASE_S) is None


@pytest.mark.req("JOB-3")
async def test_a_queued_job_is_cancelled_at_once_and_a_running_one_is_told(pool: Pool) -> None:
    queued_id, running_id = await queued(pool), await queued(pool)
    lease = await take(pool, running_id)
    assert lease is not None
    assert await jobs.cancel(pool, job_id=queued_id, user_id=None, now=NOW) == "cancelled"
    assert await jobs.cancel(pool, job_id=running_id, user_id=None, now=NOW) == "running"
    assert await jobs.renew(pool, lease, lease_s=LEASE_S, now=NOW) is True
    assert await jobs.cancel(pool, job_id=queued_id, user_id=None, now=NOW) is None


@pytest.mark.req("JOB-5")
async def test_stranded_are_old_queued_jobs_and_leases_that_ran_out(pool: Pool, prepared: Prepared) -> None:
    prepared.query(b"delete from jobs")
    waiting, running, fresh = await queued(pool), await queued(pool), str(uuid.uuid4())
    await jobs.create(pool, job_id=fresh, kind="x", arguments={}, now=NOW + 50)
    await take(pool, running, NOW + 45)
    assert await jobs.stranded(pool, grace_s=30, now=NOW + 50) == [(waiting, None)]
    assert dict(await jobs.stranded(pool, grace_s=30, now=NOW + 60)).keys() == {waiting, running}


@pytest.mark.req("JOB-6")
async def test_a_job_of_a_user_is_out_of_reach_for_the_service_and_for_others(pool: Pool, prepared: Prepared) -> None:
    owner = str(prepared.query(b"select user_id::text as id from users")[0]["id"])
    job_id = str(uuid.uuid4())
    await jobs.create(pool, job_id=job_id, kind="x", arguments={}, now=NOW, user_id=owner)
    assert await take(pool, job_id) is None
    assert await jobs.get(pool, job_id=job_id, user_id=str(uuid.uuid4())) is None
    lease = await jobs.take(pool, job_id=job_id, user_id=owner, owner="w", lease_s=LEASE_S, now=NOW)
    assert lease is not None
    assert lease.user_id == owner
