"""Refusals of the gate."""

from __future__ import annotations

from handrail.contract.errors import HandrailError
from handrail.policy import Verdict


class UnknownTool(HandrailError):
    code = "tool.unknown"
    status = 404
    en = "There is no tool named {name}."
    zh = "没有名为 {name} 的工具。"


class RoleForbids(HandrailError):
    code = "auth.role"
    status = 403
    en = "Your role in this workspace ({role}) does not allow {tool}."
    zh = "你在此工作区的角色（{role}）不允许使用 {tool}。"


class PolicyDenied(HandrailError):
    code = "policy.denied"
    status = 403
    en = "Blocked by policy: {reason}"
    zh = "被安全策略拦截：{reason}"


class ApprovalRequired(HandrailError):
    """Not a failure of the caller: a person has to say yes first. Surfaces shape it as they need."""

    code = "approval_required"
    status = 202
    en = "This needs a person's approval: {reason}"
    zh = "需要人工确认：{reason}"

    def __init__(self, verdict: Verdict, *, approval_id: str, expires_at: float, reason: str) -> None:
        self.verdict = verdict
        self.approval_id = approval_id
        extra: dict[str, object] = {
            "level": "confirm",
            "approvalId": approval_id,
            "expiresAt": int(expires_at * 1000),
            "reasons": reasons_as_json(verdict),
        }
        super().__init__(extra=extra, reason=reason)


class TokenRefused(HandrailError):
    """The executor did not accept the permission. The detail is in the log only."""

    code = "token.refused"
    status = 403
    en = "The permission for this call was refused."
    zh = "此次调用的许可被拒绝。"


def reasons_as_json(verdict: Verdict) -> list[dict[str, object]]:
    """Reasons with both languages: rule, severity, span, message."""
    return [
        {"rule": r.rule, "severity": r.severity, "span": [r.start, r.end], "message": r.en, "message_zh": r.zh} for r in verdict.reasons
    ]
