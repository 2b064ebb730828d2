"""What is searched for, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from handrail.api.files.search.content import Hit
from handrail.api.files.search.globs import Glob
from handrail.api.files.search.linear import Linear
from handrail.kit.walk import MAX_DEPTH

# directories of dependencies and build output: never part of a search unless it starts inside of one
VERSION_CONTROL = (".git", ".hg", ".svn")
SKIPPED = (
    *VERSION_CONTROL, "node_modules", "bower_components", "dist", "build", "target", "vendor", "__pycache__", ".venv", "venv",
    ".tox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".gradle", ".idea", ".next", ".nuxt", ".cache",
)  # fmt: skip
SECONDS = 20.0  # of one search; what was found until then is the answer, marked `timedOut`


@dataclass(frozen=True, slots=True)
class Rules:
    """Which directories a search enters."""

    recursive: bool = True
    dot_directories: bool = True  # hidden files always are part of it
    ignore: bool = False  # leave out what .gitignore, .ignore and .git/info/exclude say
    everything: bool = False  # dependencies and build output too; never the insides of version control

    @property
    def depth(self) -> int:
        """Levels below the start."""
        return MAX_DEPTH if self.recursive else 1

    @property
    def skipped(self) -> tuple[str, ...]:
        """Names of directories that are no part of the search."""
        return VERSION_CONTROL if self.everything else SKIPPED

    def enter(self, name: str) -> bool:
        """Whether the directory `name` is part of the search."""
        return name not in self.skipped and (self.dot_directories or not name.startswith("."))


@dataclass(frozen=True, slots=True)
class ContentQuery:
    """A search for lines. `limit` is global: never more results than that, in any engine."""

    pattern: str
    fixed: bool
    ignore_case: bool
    compiled: Linear
    files: Glob | None
    rules: Rules
    limit: int
    context: int = 0
    multiline: bool = False


@dataclass(slots=True)
class ContentResult:
    """Files with their hits in order of path; `more` when the limit or the time ended the search."""

    engine: str
    files: list[tuple[str, list[Hit]]] = field(default_factory=list[tuple[str, list[Hit]]])
    total: int = 0
    more: bool = False
    timed_out: bool = False

    def add(self, path: str, hits: list[Hit]) -> None:
        if hits:
            self.files.append((path, hits))
            self.total += len(hits)
