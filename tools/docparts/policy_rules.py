"""The policy's table of rules as Markdown."""

from __future__ import annotations

from handrail.policy.table import RULES

SHOWN = 12  # programs of one rule


def rules() -> str:
    """One row a rule: id, verdict, programs, what is said, an example that it meets."""
    lines = ["| rule | verdict | programs | why | example |", "|---|---|---|---|---|"]
    for rule in RULES:
        names = sorted(rule.programs)
        programs = " ".join(f"`{name}`" for name in names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
        example = rule.match[0].replace("|", "\\|")
        lines.append(f"| `{rule.id}` | {rule.level} | {programs} | {rule.en} | `{example}` |")
    return "\n".join(lines)
