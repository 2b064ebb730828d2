"""Command policy: shell grammar -> facts -> verdict with reasons. Pure: no I/O, no clock."""

from handrail.policy.verdict import Command, Context, Level, Reason, Verdict

__all__ = ["Command", "Context", "Level", "Reason", "Verdict"]
