"""`POST /api/policy/check`: the verdict on a command with its reasons. Nothing is run."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import Request
from pydantic import BaseModel, Field

from handrail.api.context import Workspace
from handrail.api.gate.errors import reasons_as_json
from handrail.api.http import Router, WireBody, actor_of, services_of
from handrail.api.services import Services
from handrail.contract.errors import InvalidRequest
from handrail.policy import Context, Verdict, check

router = Router(tags=["policy"])
admin = Router(tags=["admin"])
MAX_COMMAND = 65536  # characters; the policy's own limit is in bytes and denies


class CheckBody(WireBody):
    """`cwd` is relative to the work root, or absolute."""

    command: str = Field(max_length=2 * MAX_COMMAND)
    cwd: str | None = Field(default=None, max_length=4096)


class CheckAnswer(BaseModel):
    """`span` is [start, end) in characters; a word of `argv` that is not statically known is null."""

    success: Literal[True]
    verdict: Literal["allow", "confirm", "deny"]
    reasons: list[dict[str, Any]]
    commands: list[dict[str, Any]]
    policy_version: str


@router.post("/api/policy/check", response_model=CheckAnswer)
async def policy_check(request: Request, body: CheckBody) -> dict[str, object]:
    """What would happen to the command, and why."""
    actor = actor_of(request)
    if "\0" in body.command or "\0" in (body.cwd or ""):
        raise InvalidRequest(detail="command, cwd: a NUL character")  # no shell can be given one
    verdict = check(body.command, context_of(services_of(request), actor.workspace, body.cwd))
    message = "message_zh" if actor.lang == "zh" else "message"
    reasons = [
        {key: reason[key] for key in ("rule", "severity", "span")} | {"message": reason[message]} for reason in reasons_as_json(verdict)
    ]
    return {"success": True, "verdict": verdict.level, "reasons": reasons, **_seen(verdict)}


@admin.post("/admin/policy/explain")
async def explain(request: Request, body: CheckBody) -> dict[str, object]:
    """The same for `handrail policy explain`, in both languages."""
    services = services_of(request)
    root = str(services.settings.workdir)
    verdict = check(body.command, context_of(services, Workspace("", "", root), body.cwd))
    reasons = [{"rule": r.rule, "severity": r.severity, "span": [r.start, r.end], "en": r.en, "zh": r.zh} for r in verdict.reasons]
    return {"success": True, "level": verdict.level, "reasons": reasons, **_seen(verdict)}


def context_of(services: Services, workspace: Workspace, cwd: str | None) -> Context:
    """Where the command would run."""
    home = services.settings.data_dir / "homes" / workspace.id / "home"
    where = workspace.root if not cwd else cwd if cwd.startswith("/") else f"{workspace.root}/{cwd}"
    return Context(cwd=where, home=str(home), work_root=workspace.root, data_dir=str(services.settings.data_dir))


def _seen(verdict: Verdict) -> dict[str, object]:
    commands = [{"argv": list(c.argv), "text": c.text, "span": [c.start, c.end]} for c in verdict.commands]
    return {"commands": commands, "policy_version": verdict.policy_version}
