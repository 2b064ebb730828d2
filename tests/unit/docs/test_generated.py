from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from handrail.contract.setting_names import FOREIGN, SETTINGS
from tools.docparts import api_tables, cli_sections
from tools.docparts.compose_settings import compose_only, compose_variables
from tools.gendocs import filled, stale

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"


def test_generated_parts_are_up_to_date() -> None:
    assert stale() == [], "run `python -m tools.gendocs`"


@pytest.mark.req("DOC-1", "P5")
def test_every_setting_is_documented_and_in_the_env_example() -> None:
    page = (DOCS / "configuration.md").read_text("utf-8")
    example = (ROOT / ".env.example").read_text("utf-8")
    names = [setting.name for setting in (*SETTINGS, *FOREIGN)] + list(compose_only())
    assert [name for name in names if f"| `{name}` |" not in page] == []
    assert [name for name in names if f"\n#{name}=" not in example] == []
    assert [setting.config for setting in SETTINGS if setting.config and f'"{setting.config}"' not in page] == []


def test_a_setting_stands_once_and_says_what_it_does_in_both_languages() -> None:
    count = Counter(setting.name for setting in (*SETTINGS, *FOREIGN))
    assert [name for name, times in count.items() if times > 1] == []
    assert [setting.name for setting in SETTINGS if not setting.en.endswith(".") or not setting.zh.endswith("。")] == []


@pytest.mark.req("DOC-1")
def test_every_variable_of_the_compose_file_is_a_setting_or_explained() -> None:
    known = {setting.name for setting in SETTINGS} | set(compose_only())
    assert set(compose_variables()) <= known


@pytest.mark.req("DOC-1", "A9")
def test_every_command_is_documented() -> None:
    page = (DOCS / "cli.md").read_text("utf-8")
    commands = list(cli_sections.walk(cli_sections.root(), ("handrail",)))
    assert [" ".join(path) for path, _ in commands if not re.search(rf"^#+ `{' '.join(path)}[` ]", page, re.MULTILINE)] == []
    assert [" ".join(path) for path, command in commands if not command.help] == []


@pytest.mark.req("DOC-1")
def test_every_option_of_every_command_says_what_it_does() -> None:
    commands = cli_sections.walk(cli_sections.root(), ("handrail",))
    silent = [
        f"{' '.join(path)} {option.opts}" for path, command in commands for option in cli_sections.options(command) if not option.help
    ]
    assert silent == []


@pytest.mark.req("DOC-1", "P13")
def test_every_route_is_documented() -> None:
    page = (DOCS / "http-api.md").read_text("utf-8")
    document = api_tables.public().openapi()
    routes = [(method.upper(), path, operation) for path, methods in document["paths"].items() for method, operation in methods.items()]
    assert [f"{method} {path}" for method, path, _ in routes if f"| `{method} {path}` |" not in page] == []
    assert [f"{method} {path}" for method, path, operation in routes if not operation.get("description")] == []
    sockets = api_tables.sockets()
    assert sockets, "the output stream is a WebSocket"
    assert [route.path for route in sockets if f"| `WS {route.path}` |" not in page] == []


def test_every_admin_route_is_documented() -> None:
    page = (DOCS / "http-api.md").read_text("utf-8")
    assert [route.path for route in api_tables.admin_routes() if f" {route.path}` |" not in page] == []


def test_a_document_without_its_markers_is_an_error() -> None:
    with pytest.raises(ValueError, match="markers of routes"):
        filled("nothing here", {"routes": lambda: "x"})


def test_only_the_text_between_the_markers_changes() -> None:
    text = "before\n<!-- generated: x -->\nold\n<!-- end: x -->\nafter\n"
    assert filled(text, {"x": lambda: "new"}) == "before\n<!-- generated: x -->\n\nnew\n\n<!-- end: x -->\nafter\n"
