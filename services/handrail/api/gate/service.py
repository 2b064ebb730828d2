"""The gate: the one road of every read and every effect.

policy verdict -> approval where needed -> audit row committed -> signed single-use token -> executor -> outcome row.
Reads need no token: the record is appended to the local journal before the answer leaves.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import structlog

from handrail.api.audit.events import AuditEvent, Category, Level
from handrail.api.context import Actor, Role
from handrail.api.gate.approvals import Approvals, binding_of
from handrail.api.gate.errors import ApprovalRequired, PolicyDenied, RoleForbids, UnknownTool, reasons_as_json
from handrail.api.gate.mint import Mint, Minted, Permission
from handrail.api.gate.permit import AUDIENCE as FILES
from handrail.api.gate.permit import Permits
from handrail.api.http import validate
from handrail.api.tools.registry import Arguments, Effect, Invocation, Permit, Registry, Result, Run, Tool
from handrail.contract.errors import HandrailError, Lang
from handrail.contract.tokens import Tier, Trigger
from handrail.kit.errors import RootChanged
from handrail.policy import POLICY_VERSION, Verdict

log = structlog.get_logger("handrail.gate")
FORBIDDEN = 403
ROLES: dict[Effect, frozenset[Role]] = {
    "read": frozenset({"owner", "member", "viewer"}),
    "write": frozenset({"owner", "member"}),
    "exec": frozenset({"owner", "member"}),
}


class AuditLog(Protocol):
    """What the gate needs of the audit log. Each raises AuditUnavailable, and then nothing may be done."""

    async def effect(self, event: AuditEvent) -> str: ...
    def read(self, event: AuditEvent) -> None: ...
    async def outcome(self, event: AuditEvent) -> None: ...


@dataclass(frozen=True, slots=True)
class _Call:
    actor: Actor
    tool: Tool
    args: Any
    arguments: Mapping[str, Any]
    trigger: Trigger
    summary: dict[str, object]
    body: AsyncIterator[bytes] | None


class Gate:
    """Authorises calls of registered tools and runs them."""

    def __init__(
        self, *, registry: Registry, approvals: Approvals, audit: AuditLog, mint: Mint, permits: Permits, keep: Run | None = None
    ) -> None:
        self._registry = registry
        self._approvals = approvals
        self._audit = audit
        self._mint = mint
        self._permits = permits
        self._keep = keep  # runs a changing file tool and keeps the way back
        self._unfinished: set[asyncio.Task[None]] = set()

    async def call(
        self,
        actor: Actor,
        name: str,
        arguments: Mapping[str, Any] | Arguments,
        *,
        trigger: Trigger = "user_request",
        force: bool = False,
        listed_only: bool = False,
        body: AsyncIterator[bytes] | None = None,
    ) -> Result:
        """Run a tool for `actor` and return its result.

        Raises UnknownTool, InvalidRequest, RoleForbids, PolicyDenied, ApprovalRequired (a person has to decide),
        AuditUnavailable (nothing was done) and whatever the tool itself refuses with.
        """
        tool = self._registry.get(name)
        if tool is None or (listed_only and not tool.listed):
            raise UnknownTool(name=name[:64])
        args = arguments if isinstance(arguments, Arguments) else validate(tool.args, arguments)
        if actor.identity.role not in ROLES[tool.effect]:
            raise RoleForbids(role=actor.identity.role, tool=name)
        if tool.effect == "read":
            return await self._read(actor, tool, args)
        call = _Call(actor, tool, args, _bound(actor, tool, args), trigger, tool.summary(args), body)
        verdict = tool.judge(actor, args) if tool.judge else None
        approval = await self._settle(call, verdict, force=force) if verdict is not None else ""
        return await self._act(call, verdict, approval)

    async def _read(self, actor: Actor, tool: Tool, args: Any) -> Result:  # noqa: ANN401 - each tool has its own argument class
        summary = tool.summary(args)
        try:
            result = await tool.run(self._reading(actor, tool, args))
        except HandrailError as exc:
            details = summary | {"status": "refused", "code": exc.code}
            self._audit.read(_event(actor, tool, tool.action, "warn", details, category=_kind(exc)))
            raise
        size = result.get("size")
        self._audit.read(_event(actor, tool, tool.action, "info", summary if size is None else summary | {"size": size}))
        return result

    def _reading(self, actor: Actor, tool: Tool, args: Any) -> Invocation:  # noqa: ANN401 - each tool has its own argument class
        """A read in this process needs no token; another executor wants one even to look (low tier, 60 s)."""
        if tool.executor == FILES:
            return Invocation(actor, tool, args, {}, None)
        arguments = _bound(actor, tool, args)
        minted = self._mint.mint(_permission(actor, tool, arguments, "low", "user_request", POLICY_VERSION))
        return Invocation(actor, tool, args, arguments, minted.token)

    async def _settle(self, call: _Call, verdict: Verdict, *, force: bool) -> str:
        """The approval id that permits the call ("" when none is needed). Raises PolicyDenied or ApprovalRequired."""
        reason = _reason(verdict, call.actor.lang)
        if verdict.level == "deny":
            await self._security(call, "exec_denied" if call.tool.effect == "exec" else "denied", verdict)
            raise PolicyDenied(extra={"level": "deny", "reasons": reasons_as_json(verdict)}, reason=reason)
        if verdict.level == "allow":
            return ""
        binding = binding_of(call.actor, call.tool.name, call.arguments, verdict.policy_version)
        taken = await self._approvals.take(call.actor, binding, force=force)
        if taken is not None:
            return taken
        pending = await self._approvals.ask(call.actor, call.tool.name, binding, call.summary, verdict)
        await self._security(call, "confirm", verdict, approval=pending.id)
        raise ApprovalRequired(verdict, approval_id=pending.id, expires_at=pending.expires_at, reason=reason)

    async def _act(self, call: _Call, verdict: Verdict | None, approval: str) -> Result:
        policy = verdict.policy_version if verdict is not None else POLICY_VERSION
        permission = _permission(call.actor, call.tool, call.arguments, "high", call.trigger, policy)
        minted = self._mint.mint(replace(permission, approval=approval))
        details = call.summary | {"args_sha256": minted.args_sha256, "trigger": call.trigger}
        if approval:
            details["approval"] = approval
        # the row is committed before the effect; if it cannot be, this raises and nothing happens
        await self._audit.effect(_event(call.actor, call.tool, call.tool.before, "info", details, minted.jti))
        return await self._execute(call, minted)

    async def _execute(self, call: _Call, minted: Minted) -> Result:
        started = time.perf_counter()
        invocation = Invocation(call.actor, call.tool, call.args, call.arguments, minted.token, body=call.body)
        try:
            if call.tool.executor == FILES:
                where = {"user_id": call.actor.user_id, "workspace_id": call.actor.workspace.id}
                self._permits.take(minted.token, tool=call.tool.name, arguments=call.arguments, **where)
            run = self._keep if self._keep is not None and call.tool.executor == FILES else call.tool.run
            result = await run(invocation)
        except HandrailError as exc:
            details: dict[str, object] = {"status": "tool_error", "code": exc.code}
            await self._outcome(call, minted, "warn", details, started, category=_kind(exc))
            raise
        except BaseException:
            # cancelled or broken: whether the effect happened is not known, and the record says so
            await self._outcome(call, minted, "error", {"status": "unknown"}, started)
            raise
        ending = call.tool.later(invocation, result, self._permit_for(call.actor)) if call.tool.later is not None else None
        if ending is None:
            await self._outcome(call, minted, "info", _shown(result), started)
            return result
        await self._outcome(call, minted, "info", _shown(result) | {"status": "running"}, started, action="running")
        task = asyncio.create_task(self._finish(call, minted, ending, started), name=f"outcome-{minted.jti}")
        self._unfinished.add(task)
        task.add_done_callback(self._unfinished.discard)
        return result

    async def _finish(self, call: _Call, minted: Minted, ending: Awaitable[Result], started: float) -> None:
        """The row about the end of a call that went on after its answer."""
        try:
            shown = _shown(await ending)
            await self._outcome(call, minted, "info", shown, started)
        except HandrailError as exc:
            # the executor is away or has forgotten the call: what came of it is not known here, its own record has it
            log.warning("the end of a call was not seen", tool=call.tool.name, token=minted.jti, code=exc.code)
            await self._outcome(call, minted, "error", {"status": "unknown", "code": exc.code}, started)

    def _permit_for(self, actor: Actor) -> Permit:
        """Low-tier tokens for looking at what `actor` started: no audit row of their own, the call's row covers them."""

        def permit(name: str, arguments: Mapping[str, Any]) -> str:
            tool = self._registry.get(name)
            if tool is None or tool.effect != "read":
                raise UnknownTool(name=name)
            return self._mint.mint(_permission(actor, tool, arguments, "low", "system", POLICY_VERSION)).token

        return permit

    async def close(self) -> None:
        """Stop watching calls that go on; their own executor's records have their end."""
        for task in tuple(self._unfinished):
            task.cancel()
        await asyncio.gather(*self._unfinished, return_exceptions=True)

    async def _outcome(
        self,
        call: _Call,
        minted: Minted,
        level: Level,
        more: dict[str, object],
        started: float,
        *,
        action: str = "",
        category: Category | None = None,
    ) -> None:
        details = call.summary | more | {"duration_ms": round((time.perf_counter() - started) * 1000, 1)}
        await self._audit.outcome(_event(call.actor, call.tool, action or call.tool.action, level, details, minted.jti, category=category))

    async def _security(self, call: _Call, action: str, verdict: Verdict, **more: object) -> None:
        details = call.summary | {
            "tool": call.tool.name,
            "reason": _reason(verdict, "en"),
            "rules": [r.rule for r in verdict.reasons[:10]],
            **more,
        }
        await self._audit.effect(_event(call.actor, call.tool, action, "warn", details, category="security"))


def _kind(exc: HandrailError) -> Category | None:
    """What is forbidden, and a root that was swapped, is a matter of security; what is missing or wrong is not."""
    return "security" if exc.status == FORBIDDEN or exc.code == RootChanged.code else None


def _shown(result: Result) -> dict[str, object]:
    """What an audit row says of a result; never content."""
    keys = ("execId", "exitCode", "killed", "signal", "timedOut", "size", "mechanism", "recordId")
    return {"status": "ok", **{key: result[key] for key in keys if result.get(key) is not None}}


def _bound(actor: Actor, tool: Tool, args: Any) -> Mapping[str, Any]:  # noqa: ANN401 - each tool has its own argument class
    """What the executor gets, the token hashes and an approval is for."""
    return tool.bind(actor, args) if tool.bind is not None else args.model_dump(mode="json", exclude_none=True)


def _permission(actor: Actor, tool: Tool, arguments: Mapping[str, Any], tier: Tier, trigger: Trigger, policy: str) -> Permission:
    return Permission(
        audience=tool.executor,
        user_id=actor.user_id,
        workspace_id=actor.workspace.id,
        device_id=actor.identity.device_id,
        tool=tool.name,
        tier=tier,
        arguments=arguments,
        trigger=trigger,
        policy=policy,
    )


def _reason(verdict: Verdict, lang: Lang) -> str:
    """The strictest reason as text."""
    strictest = [r for r in verdict.reasons if r.severity == verdict.level]
    return "; ".join(dict.fromkeys(r.zh if lang == "zh" else r.en for r in strictest[:3]))


def _event(
    actor: Actor, tool: Tool, action: str, level: Level, details: dict[str, object], token_id: str = "", *, category: Category | None = None
) -> AuditEvent:
    return AuditEvent(
        category=category or tool.category,
        action=action,
        level=level,
        user_id=actor.user_id,
        device_id=actor.identity.device_id,
        workspace_id=actor.workspace.id,
        peer=actor.peer,
        request_id=actor.request_id,
        tool=tool.name,
        token_id=token_id,
        details=details,
    )
