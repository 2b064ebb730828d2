"""`python -m tools.houselint`: print findings, exit 1 if there are any."""

from __future__ import annotations

import sys
from pathlib import Path

from tools.houselint.rules import RULES
from tools.houselint.run import lint, modules

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """0 when the house is in order."""
    sources = modules(ROOT)
    findings = lint(sources)
    for finding in findings:
        print(finding)
    exempt = sum(len(rule.allowed) for rule in RULES)
    print(f"houselint: {len(findings)} findings in {len(sources)} files, {len(RULES)} rules, {exempt} exemptions with reasons")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
