"""Command policy: shell grammar -> facts -> verdict with reasons. Pure: no I/O, no clock."""

from handrail.policy.judge import POLICY_VERSION, check
from handrail.policy.verdict import Command, Context, Level, Reason, Verdict

__all__ = ["POLICY_VERSION", "Command", "Context", "Level", "Reason", "Verdict", "check"]
