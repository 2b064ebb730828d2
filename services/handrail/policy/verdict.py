"""A verdict is a value: level, reasons with spans, the commands that were seen, the policy version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["allow", "confirm", "deny"]
SEVERITY: dict[Level, int] = {"allow": 0, "confirm": 1, "deny": 2}


@dataclass(frozen=True, slots=True)
class Reason:
    """One rule that matched. `start` and `end` are character offsets in the command."""

    rule: str
    severity: Level
    start: int
    end: int
    en: str
    zh: str


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command that was found. A word that is not statically known is None."""

    argv: tuple[str | None, ...]
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Context:
    """Where the command would run. All are absolute paths."""

    cwd: str
    home: str
    work_root: str
    data_dir: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The strictest level of all reasons; `allow` when there is none."""

    level: Level
    reasons: tuple[Reason, ...]
    commands: tuple[Command, ...]
    policy_version: str
