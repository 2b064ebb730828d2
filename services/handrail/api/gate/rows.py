"""Approvals in Postgres, as the gate asks for them."""

from __future__ import annotations

from handrail.api.gate.approvals import Pending
from handrail.kit.clock import Clock
from handrail.store import approvals
from handrail.store.pool import Pool


class ApprovalRows:
    """`ApprovalStore` over the approvals table; each call is one transaction of the user's own."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def request(self, new: approvals.NewApproval, ttl_s: int) -> Pending:
        """The open approval for this binding, or a new one."""
        return await approvals.create(self._pool, new, now=self._clock.now(), ttl_s=ttl_s)

    async def take(self, *, user_id: str, device_id: str, binding: str, pending_too: bool) -> str | None:
        """Use up an approval for this binding."""
        return await approvals.consume(
            self._pool, user_id=user_id, device_id=device_id, args_hash=binding, pending_too=pending_too, now=self._clock.now()
        )
