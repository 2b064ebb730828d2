"""The one road: policy, approval, audit row, token, executor, outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from handrail.api.audit.events import AuditEvent
from handrail.api.context import Actor, Identity, Role, Workspace
from handrail.api.gate.approvals import Approvals, Pending
from handrail.api.gate.errors import ApprovalRequired, PolicyDenied, RoleForbids, TokenRefused, UnknownTool
from handrail.api.gate.mint import Mint, Permission
from handrail.api.gate.permit import Permits
from handrail.api.gate.service import Gate
from handrail.api.tools.registry import Arguments, Invocation, Registry, Tool
from handrail.contract.errors import AuditUnavailable, InvalidRequest
from handrail.kit.clock import FakeClock
from handrail.kit.spent import SpentTokens
from handrail.policy import Reason, Verdict
from handrail.store.approvals import NewApproval

KEY = Ed25519PrivateKey.from_private_bytes(bytes(32)).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


class Args(Arguments):
    path: str


class AuditSpy:
    """Keeps events in order; `broken` makes every write fail as a full disk would."""

    def __init__(self) -> None:
        self.events: list[tuple[str, AuditEvent]] = []
        self.broken = False

    def _take(self, kind: str, event: AuditEvent) -> None:
        if self.broken:
            raise AuditUnavailable
        self.events.append((kind, event))

    async def effect(self, event: AuditEvent) -> str:
        self._take("effect", event)
        return "1"

    def read(self, event: AuditEvent) -> None:
        self._take("read", event)

    async def outcome(self, event: AuditEvent) -> None:
        self._take("outcome", event)

    @property
    def trail(self) -> list[str]:
        return [f"{kind}:{event.category}:{event.action}" for kind, event in self.events]


class ApprovalMemory:
    """An approvals table in memory with the same rules: one open row per binding, used once."""

    def __init__(self) -> None:
        self.rows: dict[str, str] = {}

    async def request(self, new: NewApproval, ttl_s: int) -> Pending:
        self.rows.setdefault(new.args_hash, "pending")
        return Pending(id=new.args_hash[:8], expires_at=float(ttl_s))

    async def take(self, *, binding: str, pending_too: bool, **_: Any) -> str | None:
        state = self.rows.get(binding)
        if state == "allowed" or (state == "pending" and pending_too):
            del self.rows[binding]
            return binding[:8]
        return None


class World:
    """A gate with real tokens and a real store of spent tokens."""

    def __init__(self, tmp_path: Path, *, human_only: bool = False) -> None:
        self.clock = FakeClock()
        self.audit = AuditSpy()
        self.approvals = ApprovalMemory()
        self.ran: list[str] = []
        self.level = "allow"
        mint = Mint({"active": "k1", "keys": {"k1": KEY}}, self.clock)
        self.mint = mint
        self.permits = Permits(mint.public_keys, SpentTokens(tmp_path / "jti.sqlite", now=self.clock.now()), self.clock)
        registry = Registry()
        registry.add(self.tool("Look", "read"), self.tool("Change", "write"), self.tool("Hidden", "write", listed=False))
        self.gate = Gate(
            registry=registry, approvals=Approvals(self.approvals, human_only=human_only), audit=self.audit, mint=mint, permits=self.permits
        )

    def tool(self, name: str, effect: Any, *, listed: bool = True) -> Tool:
        async def run(invocation: Invocation) -> dict[str, Any]:
            self.ran.append(f"{name}:{invocation.args.path}")
            return {"size": 3}

        return Tool(
            name=name, description="", args=Args, effect=effect, executor="files", category="fs", action=name.lower(), run=run,
            summary=lambda args: {"path": args.path}, listed=listed,
            judge=None if effect == "read" else lambda _actor, _args: self.verdict(),
        )  # fmt: skip

    def verdict(self) -> Verdict:
        level: Any = self.level
        reasons = () if level == "allow" else (Reason("r1", level, 0, 1, "because", "因为"),)
        return Verdict(level, reasons, (), "test")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def actor(role: Role = "owner", device: str = "dev-1") -> Actor:
    identity = Identity("user-1", "ann", True, device, "laptop", role, Workspace("ws-1", "main", "/work"))
    return Actor(identity, "en", "req-1", "127.0.0.1")


async def test_a_read_is_recorded_before_it_is_answered(world: World) -> None:
    assert await world.gate.call(actor(), "Look", {"path": "a"}) == {"size": 3}
    assert world.audit.trail == ["read:fs:look"]
    assert world.audit.events[0][1].details == {"path": "a", "size": 3}


async def test_an_effect_is_recorded_before_and_after(world: World) -> None:
    await world.gate.call(actor(), "Change", {"path": "a"})
    assert world.audit.trail == ["effect:fs:minted", "outcome:fs:change"]
    minted, done = (event for _, event in world.audit.events)
    assert minted.token_id == done.token_id
    assert len(minted.token_id) == 32


@pytest.mark.req("ATK-62", "PG-17")
@pytest.mark.parametrize("tool", ["Look", "Change"])
async def test_nothing_is_answered_or_done_when_the_audit_log_cannot_be_written(world: World, tool: str) -> None:
    world.audit.broken = True
    with pytest.raises(AuditUnavailable):
        await world.gate.call(actor(), tool, {"path": "a"})
    assert "Change:a" not in world.ran


async def test_unknown_and_unlisted_tools_are_not_found(world: World) -> None:
    with pytest.raises(UnknownTool):
        await world.gate.call(actor(), "Nope", {})
    with pytest.raises(UnknownTool):
        await world.gate.call(actor(), "Hidden", {"path": "a"}, listed_only=True)
    assert await world.gate.call(actor(), "Hidden", {"path": "a"})


@pytest.mark.req("PG-23")
@pytest.mark.parametrize("arguments", [{}, {"path": 1}, {"path": "a", "more": 1}, {"path": None}])
async def test_arguments_are_checked_against_the_schema(world: World, arguments: Mapping[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        await world.gate.call(actor(), "Change", arguments)
    assert world.ran == []


@pytest.mark.req("B6")
@pytest.mark.parametrize(
    ("role", "tool", "allowed"),
    [("viewer", "Look", True), ("viewer", "Change", False), ("auditor", "Look", False), ("member", "Change", True)],
)
async def test_roles_limit_what_may_be_called(world: World, role: Role, tool: str, *, allowed: bool) -> None:
    if allowed:
        await world.gate.call(actor(role), tool, {"path": "a"})
        return
    with pytest.raises(RoleForbids):
        await world.gate.call(actor(role), tool, {"path": "a"})
    assert world.ran == []


async def test_a_denied_call_stays_denied_with_force(world: World) -> None:
    world.level = "deny"
    with pytest.raises(PolicyDenied) as caught:
        await world.gate.call(actor(), "Change", {"path": "a"}, force=True)
    assert (caught.value.extra["level"], world.ran) == ("deny", [])
    assert world.audit.trail == ["effect:security:denied"]


@pytest.mark.req("PF-A10")
async def test_force_counts_once_and_only_after_a_question_about_the_same_call(world: World) -> None:
    world.level = "confirm"
    for path, forced, runs in [("a", True, False), ("b", True, False), ("a", True, True), ("a", True, False)]:
        if runs:
            await world.gate.call(actor(), "Change", {"path": path}, force=forced)
        else:
            with pytest.raises(ApprovalRequired):
                await world.gate.call(actor(), "Change", {"path": path}, force=forced)
    assert world.ran == ["Change:a"]


@pytest.mark.req("ATK-19")
async def test_another_device_cannot_use_the_approval(world: World) -> None:
    world.level = "confirm"
    with pytest.raises(ApprovalRequired):
        await world.gate.call(actor(), "Change", {"path": "a"})
    with pytest.raises(ApprovalRequired):
        await world.gate.call(actor(device="dev-2"), "Change", {"path": "a"}, force=True)
    assert world.ran == []


async def test_with_human_confirmation_force_never_suffices(tmp_path: Path) -> None:
    world = World(tmp_path, human_only=True)
    world.level = "confirm"
    for _ in range(2):
        with pytest.raises(ApprovalRequired):
            await world.gate.call(actor(), "Change", {"path": "a"}, force=True)
    assert world.ran == []


@pytest.mark.req("ATK-19b")
async def test_an_approval_does_not_outlive_a_deny(world: World) -> None:
    world.level = "confirm"
    with pytest.raises(ApprovalRequired):
        await world.gate.call(actor(), "Change", {"path": "a"})
    world.level = "deny"
    with pytest.raises(PolicyDenied):
        await world.gate.call(actor(), "Change", {"path": "a"}, force=True)


@pytest.mark.req("ATK-41", "H4", "H6")
async def test_a_file_permission_works_once_for_its_own_call(world: World) -> None:
    def mint(**changes: Any) -> str:
        base: dict[str, Any] = {
            "audience": "files", "user_id": "user-1", "workspace_id": "ws-1", "device_id": "d", "tool": "Change", "tier": "high",
            "arguments": {"path": "a"}, "trigger": "user_request", "policy": "1",
        }  # fmt: skip
        return world.mint.mint(Permission(**(base | changes))).token

    def take(token: str) -> None:
        world.permits.take(token, tool="Change", user_id="user-1", workspace_id="ws-1", arguments={"path": "a"})

    for wrong in (
        {"audience": "sandbox"},
        {"user_id": "user-2"},
        {"workspace_id": "ws-2"},
        {"tool": "Look"},
        {"tier": "low"},
        {"arguments": {"path": "b"}},
    ):
        with pytest.raises(TokenRefused):
            take(mint(**wrong))
    good = mint()
    take(good)
    with pytest.raises(TokenRefused):
        take(good)
    late = mint()
    world.clock.advance(31)
    with pytest.raises(TokenRefused):
        take(late)


async def test_a_cancelled_effect_is_recorded_as_unknown(world: World) -> None:
    started = asyncio.Event()

    async def hang(_: Invocation) -> dict[str, Any]:
        started.set()
        await asyncio.Event().wait()
        return {}

    registry = Registry()
    registry.add(Tool(name="Hang", description="", args=Args, effect="write", executor="files", category="fs", action="hang", run=hang))
    gate = Gate(
        registry=registry, approvals=Approvals(world.approvals, human_only=False), audit=world.audit, mint=world.mint, permits=world.permits
    )
    task = asyncio.create_task(gate.call(actor(), "Hang", {"path": "a"}))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert world.audit.events[-1][1].details["status"] == "unknown"
