from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
ROW = re.compile(r"^\| `(\w+)` \|.*\| ([\w, -]+) \|$", re.MULTILINE)


def table() -> dict[str, set[str]]:
    """Room -> rooms it may import, from docs/architecture.md."""
    rows = ROW.findall((ROOT / "docs" / "architecture.md").read_text("utf-8"))
    return {room: {name.strip() for name in allowed.split(",")} - {"-"} for room, allowed in rows}


def contracts() -> dict[str, set[str]]:
    """Room -> rooms it may not import, from the import-linter configuration."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    return {
        source.removeprefix("handrail."): {name.removeprefix("handrail.") for name in contract["forbidden_modules"]}
        for contract in config
        for source in contract["source_modules"]
    }


def rooms() -> set[str]:
    return {path.parent.name for path in (ROOT / "services" / "handrail").glob("*/__init__.py")}


@pytest.mark.req("H8")
def test_every_room_has_a_row_and_a_contract() -> None:
    assert set(table()) == rooms()
    assert set(contracts()) == rooms()


@pytest.mark.req("H8")
def test_the_contracts_forbid_exactly_what_the_table_does_not_allow() -> None:
    allowed = table()
    assert contracts() == {room: set(allowed) - names - {room} for room, names in allowed.items()}


def test_what_a_room_may_import_is_closed() -> None:
    allowed = table()
    assert [(room, via) for room, names in allowed.items() for via in names if not allowed[via] <= names] == []
