from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
INLINE = re.compile(r"`(make [a-z-]+)`")
PAGES = [ROOT / "README.md", ROOT / "README.zh.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


def commands(name: str) -> list[str]:
    """The lines of the shell blocks of a page."""
    text = (ROOT / name).read_text("utf-8")
    return [line for block in BLOCK.findall(text) for line in block.splitlines() if line and not line.startswith("#")]


def targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z0-9-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


@pytest.mark.req("DOC-2")
def test_the_readme_sets_up_with_two_commands_and_one_for_docker() -> None:
    assert commands("README.md") == ["make run", "make test", "docker compose up -d --wait"]
    assert commands("README.zh.md") == commands("README.md")


@pytest.mark.req("DOC-2")
def test_ci_runs_the_commands_of_the_readme() -> None:
    ci = (ROOT / ".ci" / "run").read_text("utf-8")
    stack = "\n".join(path.read_text("utf-8") for path in (ROOT / "tests" / "stack").rglob("*.py"))
    for command in commands("README.md"):
        if command.startswith("docker compose "):
            words = command.removeprefix("docker compose ")
            assert words in ci or words in stack, command
        else:
            assert re.search(rf"^[^#\n]*\b{command}(?![\w-])", ci, re.MULTILINE), command


@pytest.mark.req("DOC-2")
def test_every_make_target_that_a_page_names_exists() -> None:
    known = targets()
    named = {(page.name, target) for page in PAGES for target in INLINE.findall(page.read_text("utf-8"))}
    assert sorted((page, target) for page, target in named if target.removeprefix("make ") not in known) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    links = LINK.findall(page.read_text("utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_guide_is_reachable_from_the_readme() -> None:
    linked = set(LINK.findall((ROOT / "README.md").read_text("utf-8")))
    guides = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")}
    missing = guides - linked
    through = {f"docs/{link}" for guide in linked & guides for link in LINK.findall((ROOT / guide).read_text("utf-8"))}
    assert missing - through == set()


def test_every_decision_is_in_the_index_and_says_context_choice_and_consequence() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text("utf-8")
    notes = sorted(folder.glob("[0-9]*.md"))
    assert notes
    assert [note.name for note in notes if f"]({note.name})" not in index] == []
    parts = ("**Context.**", "**Choice.**", "**Consequence.**")
    assert [note.name for note in notes if not all(part in note.read_text("utf-8") for part in parts)] == []


def test_the_changelog_has_one_sentence_an_entry() -> None:
    entries = re.findall(r"^- (.+(?:\n  .+)*)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert entries
    assert [entry for entry in entries if not entry.endswith(".") or ". " in entry] == []
