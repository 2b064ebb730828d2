"""Approvals: what a person has to say yes to, bound to the exact call, used once.

The binding is the SHA-256 over tool, arguments, user, device, workspace and policy version; what is shown is what is
hashed. State lives in Postgres and changes only by compare-and-set with the deadline in the same statement.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from handrail.api.context import Actor
from handrail.api.gate.errors import reasons_as_json
from handrail.kit.canonical import sha256
from handrail.policy import Verdict
from handrail.store.approvals import NewApproval, OpenApproval

TTL_S = 300  # a pending approval that nobody decides is denied after this


Pending = OpenApproval  # an approval that waits for a person: id, expires_at (seconds since the epoch)


class ApprovalStore(Protocol):
    """What the gate needs of the approvals table; every call is one statement in the user's own session."""

    async def request(self, new: NewApproval, ttl_s: int) -> Pending:
        """The pending approval for this binding: the one that is open already, or a new one."""
        ...

    async def take(self, *, user_id: str, device_id: str, binding: str, pending_too: bool) -> str | None:
        """Use up an unexpired approval for this binding and return its id; None when there is none.

        Takes one that was allowed elsewhere, and with `pending_too` also one that is still open (the wire's `force`).
        """
        ...


def binding_of(actor: Actor, tool: str, arguments: Mapping[str, Any], policy_version: str) -> str:
    """What an approval is bound to, as a hex SHA-256."""
    return sha256(
        {
            "tool": tool,
            "arguments": dict(arguments),
            "user": actor.user_id,
            "device": actor.identity.device_id,
            "workspace": actor.workspace.id,
            "policy": policy_version,
        }
    )


class Approvals:
    """Asks and takes approvals for the gate."""

    def __init__(self, store: ApprovalStore, *, human_only: bool) -> None:
        self._store = store
        self._human_only = human_only  # HANDRAIL_CONFIRM=human: `force` never suffices

    async def take(self, actor: Actor, binding: str, *, force: bool) -> str | None:
        """The id of the approval that permits this call, used up by this very call; None = ask."""
        return await self._store.take(
            user_id=actor.user_id,
            device_id=actor.identity.device_id,
            binding=binding,
            pending_too=force and not self._human_only,
        )

    async def ask(self, actor: Actor, tool: str, binding: str, summary: Mapping[str, object], verdict: Verdict) -> Pending:
        """Open an approval, or find the open one."""
        new = NewApproval(
            user_id=actor.user_id,
            device_id=actor.identity.device_id,
            workspace_id=actor.workspace.id,
            tool=tool,
            args_hash=binding,
            summary=summary,
            reasons=reasons_as_json(verdict),
            policy_version=verdict.policy_version,
        )
        return await self._store.request(new, TTL_S)
