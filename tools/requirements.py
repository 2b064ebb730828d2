"""The requirement manifest: rows (id, sentence, source) in TOML, tied both ways to tests by `@pytest.mark.req(...)`."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MANIFEST = ROOT / "tests" / "requirements.toml"
FRAGMENTS = ROOT / "tests" / "requirements"
SOURCES = FRAGMENTS / "sources.toml"
TESTS = ROOT / "tests"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One row. `file` is the fragment it came from."""

    id: str
    text: str
    source: str
    file: str


@dataclass(frozen=True, slots=True)
class Mark:
    """One id named by one test."""

    id: str
    file: str
    line: int


def fragments() -> list[Path]:
    """The manifest and its fragments by area."""
    return [MANIFEST, *(path for path in sorted(FRAGMENTS.glob("*.toml")) if path != SOURCES)]


def requirements() -> list[Requirement]:
    """Every row of every fragment, in order. Raises KeyError or TypeError for a row of another shape."""
    rows: list[Requirement] = []
    for path in fragments():
        name = path.relative_to(ROOT).as_posix()
        rows += [Requirement(**row, file=name) for row in tomllib.loads(path.read_text("utf-8")).get("requirement", [])]
    return rows


def marks() -> list[Mark]:
    """Every id in a `@pytest.mark.req` decorator, `pytestmark` or `pytest.param(marks=...)` below tests/."""
    found: list[Mark] = []
    for path in sorted(TESTS.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith("tests/demo/sample/"):
            found += [Mark(ident, name, line) for line, ident in marks_in(path.read_text("utf-8"))]
    return found


def marks_in(text: str) -> Iterator[tuple[int, str]]:
    """(line, id) of each `mark.req(...)` call. Raises TypeError for an id that is no literal: it could not be checked."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("mark.req"):
            for argument in node.args:
                if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
                    raise TypeError(f"line {node.lineno}: requirement ids are literals")
                yield node.lineno, argument.value


@dataclass(frozen=True)
class Index:
    """What the source documents number: for checking that a row's source exists."""

    numbered: dict[str, dict[str, int]]
    extra: dict[str, list[str]]
    sections: dict[str, list[str]]

    def resolves(self, source: str) -> bool:
        """Whether each source of a row exists: `features.md D22; attacks.md 47`, `wire.md section 4`, `issue 2 section 5`."""
        return all(self._one(part.strip()) for part in source.split(";"))

    def _one(self, source: str) -> bool:
        document, _, place = source.partition(" ")
        if document == "issue":
            return re.fullmatch(r"\d+( section [\w .]+)?", place) is not None
        if place.startswith("section "):
            return place.removeprefix("section ") in self.sections.get(document, [])
        match = re.fullmatch(r"([A-Z]?)(\d+)", place)
        if match is not None and 1 <= int(match.group(2)) <= self.numbered.get(document, {}).get(match.group(1), 0):
            return True
        return place in self.extra.get(document, [])


def index() -> Index:
    """The numbering of the source documents, from sources.toml."""
    return Index(**tomllib.loads(SOURCES.read_text("utf-8")))
