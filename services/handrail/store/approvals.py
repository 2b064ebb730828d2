"""Approvals: pending -> allowed | denied | expired | cancelled, allowed -> used. Each change is one compare-and-set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from handrail.store import session
from handrail.store.pool import Pool
from handrail.store.query import as_jsonb, one, rows, run
from handrail.store.statements import load

SQL = load("approvals")
Decision = Literal["allowed", "denied", "cancelled"]
TRIES = 3  # an open approval can be used up between our insert and our look-up


@dataclass(frozen=True, slots=True)
class OpenApproval:
    """An approval that waits for a person. `expires_at` is seconds since the epoch."""

    id: str
    expires_at: float


@dataclass(frozen=True, slots=True)
class NewApproval:
    """What is asked. `args_hash` binds it to the exact call (64 hex digits)."""

    user_id: str
    device_id: str
    workspace_id: str
    tool: str
    args_hash: str
    summary: Mapping[str, object]
    reasons: list[dict[str, object]]
    policy_version: str


async def create(pool: Pool, new: NewApproval, *, now: float, ttl_s: float) -> OpenApproval:
    """The pending approval of this device for this hash: the open one, or a new one that lives `ttl_s` seconds."""
    values = {
        "user_id": new.user_id,
        "device_id": new.device_id,
        "workspace_id": new.workspace_id,
        "tool": new.tool,
        "args_hash": new.args_hash,
        "summary": as_jsonb(dict(new.summary)),
        "reasons": as_jsonb(new.reasons),
        "policy_version": new.policy_version,
        "now": now,
        "expires_at": now + ttl_s,
    }
    for _ in range(TRIES):
        async with session.tenant(pool, new.user_id) as connection:
            await run(connection, SQL["expire"], values)
            row = await one(connection, SQL["open"], values) or await one(connection, SQL["find_pending"], values)
        if row is not None:
            return OpenApproval(row["approval_id"], row["expires_at"])
    raise LookupError("the open approval was used up each time")


async def find_matching_pending(pool: Pool, *, user_id: str, device_id: str, args_hash: str, now: float) -> OpenApproval | None:
    """The open approval of this device for this hash."""
    async with session.tenant(pool, user_id) as connection:
        row = await one(connection, SQL["find_pending"], {"device_id": device_id, "args_hash": args_hash, "now": now})
    return OpenApproval(row["approval_id"], row["expires_at"]) if row else None


async def decide(pool: Pool, *, user_id: str, approval_id: str, decision: Decision, decided_by: str, surface: str, now: float) -> bool:
    """True when this call decided it: it was pending and in time. The first answer wins on all surfaces."""
    values = {"approval_id": approval_id, "state": decision, "decided_by": decided_by, "surface": surface, "now": now}
    async with session.tenant(pool, user_id) as connection:
        return await one(connection, SQL["decide"], values) is not None


async def consume(pool: Pool, *, user_id: str, device_id: str, args_hash: str, pending_too: bool, now: float) -> str | None:
    """Use up an unexpired approval and return its id; None when there is none. Exactly one of several callers gets it."""
    values = {"device_id": device_id, "args_hash": args_hash, "pending_too": pending_too, "now": now}
    async with session.tenant(pool, user_id) as connection:
        row = await one(connection, SQL["consume"], values)
    return str(row["approval_id"]) if row else None


async def expire(pool: Pool, *, user_id: str, now: float) -> None:
    """Mark what nobody decided in time."""
    async with session.tenant(pool, user_id) as connection:
        await run(connection, SQL["expire"], {"now": now})


async def get(pool: Pool, *, user_id: str, approval_id: str, now: float) -> dict[str, object] | None:
    """One of the user's approvals with its state at `now`."""
    async with session.tenant(pool, user_id) as connection:
        return await one(connection, SQL["get"], {"approval_id": approval_id, "now": now})


async def pending(pool: Pool, *, user_id: str, now: float) -> list[dict[str, object]]:
    """What waits for this user, oldest first."""
    async with session.tenant(pool, user_id) as connection:
        return await rows(connection, SQL["list_pending"], {"now": now})


async def delete_old(pool: Pool, *, now: float, days: int) -> int:
    """Retention, as handrail_worker: how many were deleted."""
    async with session.retention(pool) as connection:
        row = await one(connection, SQL["delete_old"], {"now": now, "days": days})
    return int(row["count"]) if row else 0
