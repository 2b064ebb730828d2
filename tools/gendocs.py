"""Write the parts of docs/ that come from code, and `.env.example`: settings, commands, routes.

python -m tools.gendocs            write them
python -m tools.gendocs --check    exit 1 if one is out of date (tests/unit/docs does the same)

A document holds its generated part between `<!-- generated: NAME -->` and `<!-- end: NAME -->`; the rest is written by hand.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

from tools.docparts import api_tables, cli_sections, env_example, policy_rules, settings_tables

ROOT = Path(__file__).resolve().parents[1]

PARTS: dict[str, dict[str, Callable[[], str]]] = {
    "docs/configuration.md": {"settings": settings_tables.settings, "compose": settings_tables.compose},
    "docs/cli.md": {"commands": cli_sections.commands},
    "docs/policy.md": {"rules": policy_rules.rules},
    "docs/http-api.md": {"routes": api_tables.routes, "admin": api_tables.admin, "errors": api_tables.errors},
}
WHOLE: dict[str, Callable[[], str]] = {".env.example": env_example.text}


def filled(text: str, parts: dict[str, Callable[[], str]]) -> str:
    """`text` with each generated part replaced. Raises ValueError for a part whose markers are missing."""
    for name, make in parts.items():
        pattern = re.compile(rf"(<!-- generated: {name} -->\n).*?(<!-- end: {name} -->)", re.DOTALL)
        if len(pattern.findall(text)) != 1:
            raise ValueError(f"the markers of {name} are missing")
        text = pattern.sub(lambda match, make=make: f"{match[1]}\n{make().strip()}\n\n{match[2]}", text)
    return text


def wanted() -> dict[str, str]:
    """Path -> text as it should be."""
    out = {path: filled((ROOT / path).read_text("utf-8"), parts) for path, parts in PARTS.items()}
    return {**out, **{path: make() for path, make in WHOLE.items()}}


def stale() -> list[str]:
    """Paths whose text is not as it should be."""
    return [path for path, text in wanted().items() if not (ROOT / path).exists() or (ROOT / path).read_text("utf-8") != text]


def main() -> int:
    """Write or check."""
    if "--check" in sys.argv[1:]:
        for path in stale():
            print(f"{path} is out of date: run `python -m tools.gendocs`")
        return 1 if stale() else 0
    for path, text in wanted().items():
        (ROOT / path).write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
