"""Policy once more, on the exact bytes that would run: deny beats any token, confirm needs an approval in the token."""

from __future__ import annotations

from handrail.contract.tokens import Claims
from handrail.policy import Context, Verdict
from handrail.sandbox.errors import ApprovalMissing, PolicyDenied


def version() -> str:
    """The policy that this service applies."""
    from handrail.policy import POLICY_VERSION  # noqa: PLC0415

    return POLICY_VERSION


def judge(command: str, context: Context, claims: Claims) -> Verdict:
    """The verdict, when the command may run. Raises PolicyDenied or ApprovalMissing."""
    from handrail.policy import check  # noqa: PLC0415

    verdict = check(command, context)
    if verdict.level == "deny":
        reasons = [reason for reason in verdict.reasons if reason.severity == "deny"]
        texts = [reason.en for reason in reasons[:3]]
        raise PolicyDenied(extra={"level": "deny"}, reason="; ".join(texts))
    if verdict.level == "confirm" and not claims.approval:
        raise ApprovalMissing(extra={"level": "confirm"})
    return verdict
