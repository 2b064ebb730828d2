"""Jobs: the row is the truth (state, lease, progress, result), the queue only says that there is something to do.

A worker takes a lease with a fencing number that grows each time. Whoever holds an older number writes nothing any more,
so a message that is delivered twice, or a worker that wakes up after its lease ran out, cannot do harm to the row.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal

from handrail.store import session
from handrail.store.pool import Connection, Pool
from handrail.store.query import as_jsonb, one, rows, run
from handrail.store.statements import load

SQL = load("jobs")
Outcome = Literal["succeeded", "failed", "cancelled"]
BATCH = 1000  # rows of one step of retention: each is a transaction of milliseconds


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on one job until it is overtaken. `progress` is what an earlier attempt left."""

    job_id: str
    user_id: str | None
    workspace_id: str | None
    kind: str
    arguments: Mapping[str, object]
    fence: int
    attempts: int
    progress: Mapping[str, object]
    cancel_requested: bool


def _as(pool: Pool, user_id: str | None) -> AbstractAsyncContextManager[Connection]:
    """A job of a user is worked on as that user; one of the service itself as the service."""
    return session.tenant(pool, user_id) if user_id else session.system(pool)


async def create(
    pool: Pool,
    *,
    job_id: str,
    kind: str,
    arguments: Mapping[str, object],
    now: float,
    user_id: str | None = None,
    workspace_id: str | None = None,
) -> None:
    """A queued job under an id of the caller's choice; the same id again is no second job."""
    values = {
        "job_id": job_id,
        "user_id": user_id,
        "workspace_id": workspace_id,
        "kind": kind,
        "arguments": as_jsonb(dict(arguments)),
        "now": now,
    }
    async with _as(pool, user_id) as connection:
        await run(connection, SQL["create"], values)


async def take(pool: Pool, *, job_id: str, user_id: str | None, owner: str, lease_s: float, now: float) -> Lease | None:
    """The lease, or None when the job is over, unknown, or somebody's live lease is on it."""
    values = {"job_id": job_id, "owner": owner, "lease_s": lease_s, "now": now}
    async with _as(pool, user_id) as connection:
        row = await one(connection, SQL["take"], values)
    return Lease(**row) if row else None


async def renew(pool: Pool, lease: Lease, *, lease_s: float, now: float) -> bool | None:
    """Whether the job was asked to stop; None when the lease has been overtaken."""
    values = {"job_id": lease.job_id, "fence": lease.fence, "lease_s": lease_s, "now": now}
    async with _as(pool, lease.user_id) as connection:
        row = await one(connection, SQL["renew"], values)
    return bool(row["cancel_requested"]) if row else None


async def progress(pool: Pool, lease: Lease, value: Mapping[str, object]) -> bool | None:
    """Save how far it is; answers as `renew`."""
    values = {"job_id": lease.job_id, "fence": lease.fence, "progress": as_jsonb(dict(value))}
    async with _as(pool, lease.user_id) as connection:
        row = await one(connection, SQL["progress"], values)
    return bool(row["cancel_requested"]) if row else None


async def finish(
    pool: Pool,
    lease: Lease,
    outcome: Outcome,
    *,
    now: float,
    result: Mapping[str, object] | None = None,
    error: Mapping[str, object] | None = None,
) -> bool:
    """End the job; False when the lease has been overtaken, and then nothing was written."""
    values = {
        "job_id": lease.job_id,
        "fence": lease.fence,
        "state": outcome,
        "result": as_jsonb(dict(result)) if result is not None else None,
        "error": as_jsonb(dict(error)) if error is not None else None,
        "now": now,
    }
    async with _as(pool, lease.user_id) as connection:
        return await one(connection, SQL["finish"], values) is not None


async def release(pool: Pool, lease: Lease) -> bool:
    """Give an unfinished job back to the queue; False when the lease has been overtaken."""
    async with _as(pool, lease.user_id) as connection:
        return await one(connection, SQL["release"], {"job_id": lease.job_id, "fence": lease.fence}) is not None


async def cancel(pool: Pool, *, job_id: str, user_id: str | None, now: float) -> str | None:
    """Ask it to stop: its state after that, or None when it is over or unknown."""
    async with _as(pool, user_id) as connection:
        row = await one(connection, SQL["cancel"], {"job_id": job_id, "now": now})
    return str(row["state"]) if row else None


async def get(pool: Pool, *, job_id: str, user_id: str | None) -> dict[str, object] | None:
    """The row as a dictionary, times in seconds since the epoch."""
    async with _as(pool, user_id) as connection:
        return await one(connection, SQL["get"], {"job_id": job_id})


async def stranded(pool: Pool, *, grace_s: float, now: float, limit: int = BATCH) -> list[tuple[str, str | None]]:
    """(job, user) of jobs that nobody works on: queued for longer than `grace_s`, or with a lease that ran out."""
    async with session.retention(pool) as connection:
        found = await rows(connection, SQL["stranded"], {"grace_s": grace_s, "now": now, "limit": limit})
    return [(row["job_id"], row["user_id"]) for row in found]


async def delete_old(pool: Pool, what: Literal["jobs", "pairings", "sessions"], *, now: float, days: int, keep_s: float) -> int:
    """One bounded step of retention: how many rows were deleted (less than BATCH: done)."""
    name = "delete_old" if what == "jobs" else f"delete_old_{what}"
    async with session.retention(pool) as connection:
        row = await one(connection, SQL[name], {"now": now, "days": days, "keep_s": keep_s, "limit": BATCH})
    return int(row["count"]) if row else 0
