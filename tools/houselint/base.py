"""What a rule is, and the few questions every rule asks of a module."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One violation. `line` counts from 1."""

    path: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


@dataclass(frozen=True)
class Module:
    """One source file: its path from the top of the tree and its text. Raises SyntaxError when parsed if it is not Python."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.text, self.path)

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Local name -> dotted name, for everything imported anywhere in the module."""
        names: dict[str, str] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    top = alias.name.partition(".")[0]
                    names[alias.asname or top] = alias.name if alias.asname else top
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                for alias in node.names:
                    names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        return names

    def dotted(self, node: ast.expr) -> str | None:
        """`sp.run` -> `subprocess.run` after `import subprocess as sp`; None for what is no chain of names."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        return ".".join([self.aliases.get(node.id, node.id), *reversed(parts)])

    def imports(self) -> Iterator[tuple[int, str]]:
        """(line, dotted name) of each imported module or `module.name`."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((node.lineno, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)

    def mentions(self) -> Iterator[tuple[int, str]]:
        """(line, dotted name) of each name or attribute chain, the longest form of each."""
        inner: set[int] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute):
                inner.add(id(node.value))
            if isinstance(node, ast.Attribute | ast.Name) and id(node) not in inner:
                name = self.dotted(node)
                if name is not None:
                    yield node.lineno, name

    def calls(self) -> Iterator[ast.Call]:
        """Every call."""
        return (node for node in ast.walk(self.tree) if isinstance(node, ast.Call))


Check = Callable[[Module], Iterator[tuple[int, str]]]


@dataclass(frozen=True)
class Rule:
    """A check, where it applies, and who may break it with which reason.

    `scope` and the keys of `allowed` are glob patterns over paths from the top of the tree.
    """

    name: str
    check: Check
    scope: tuple[str, ...] = ("services/handrail/*",)
    allowed: dict[str, str] = field(default_factory=dict[str, str])

    def applies(self, path: str) -> bool:
        """Whether files at `path` are looked at."""
        return any(fnmatchcase(path, pattern) for pattern in self.scope)

    def exemption(self, path: str) -> str | None:
        """The pattern of the allow-list that covers `path`."""
        return next((pattern for pattern in self.allowed if fnmatchcase(path, pattern)), None)

    def findings(self, module: Module) -> list[Finding]:
        """Violations in one module, exemptions not yet applied."""
        return sorted({Finding(module.path, line, self.name, message) for line, message in self.check(module)})


def under(name: str, roots: frozenset[str] | tuple[str, ...]) -> bool:
    """Whether dotted `name` is one of `roots` or lies below one."""
    return any(name == root or name.startswith(root + ".") for root in roots)


def room_of(path: str) -> str:
    """`services/handrail/api/x.py` -> `api`; empty for files outside the rooms."""
    parts = PurePosixPath(path).parts
    return parts[2] if parts[:2] == ("services", "handrail") and len(parts) > len(("services", "handrail", "room")) else ""
