"""Run every rule over the tree."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tools.houselint.base import Finding, Module, Rule
from tools.houselint.rules import RULES

TOPS = ("services/handrail", "tools", "tests")
EXCLUDED = ("tests/demo/sample/",)


def modules(root: Path) -> list[Module]:
    """Every Python file of ours below `root`."""
    paths = sorted(path for top in TOPS for path in (root / top).rglob("*.py"))
    names = [(path.relative_to(root).as_posix(), path) for path in paths]
    return [Module(name, path.read_text("utf-8")) for name, path in names if not name.startswith(EXCLUDED)]


def lint(sources: Iterable[Module], rules: tuple[Rule, ...] = RULES) -> list[Finding]:
    """Violations, and exemptions that no file needs any more."""
    sources = list(sources)
    findings: list[Finding] = []
    for rule in rules:
        used: set[str] = set()
        for module in sources:
            if not rule.applies(module.path):
                continue
            found = rule.findings(module)
            pattern = rule.exemption(module.path)
            if pattern is None:
                findings += found
            elif found:
                used.add(pattern)
        findings += [
            Finding("tools/houselint/rules.py", 1, rule.name, f"exemption `{pattern}` is not needed: remove it")
            for pattern in rule.allowed
            if pattern not in used
        ]
    return sorted(findings)
