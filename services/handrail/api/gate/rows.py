"""Approvals in Postgres, as the gate asks for them."""

from __future__ import annotations

from collections.abc import Mapping

from handrail.api.gate.approvals import Pending
from handrail.kit.clock import Clock
from handrail.store import approvals
from handrail.store.pool import Pool


class ApprovalRows:
    """`ApprovalStore` over the approvals table; each call is one transaction of the user's own."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def request(
        self,
        *,
        user_id: str,
        device_id: str,
        workspace_id: str,
        tool: str,
        binding: str,
        summary: Mapping[str, object],
        reasons: list[dict[str, object]],
        policy_version: str,
        ttl_s: int,
    ) -> Pending:
        """The open approval for this binding, or a new one."""
        new = approvals.NewApproval(user_id, device_id, workspace_id, tool, binding, summary, reasons, policy_version)
        row = await approvals.create(self._pool, new, now=self._clock.now(), ttl_s=ttl_s)
        return Pending(row.id, row.expires_at)

    async def take(self, *, user_id: str, device_id: str, binding: str, pending_too: bool) -> str | None:
        """Use up an approval for this binding."""
        return await approvals.consume(
            self._pool, user_id=user_id, device_id=device_id, args_hash=binding, pending_too=pending_too, now=self._clock.now()
        )
