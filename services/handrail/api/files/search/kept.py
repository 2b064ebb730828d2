"""Which of the files that ripgrep named the ignore files leave in: decided by our own rules, as on the walk."""

from __future__ import annotations

import os

from handrail.kit.ignore import NAMES, Ignore
from handrail.kit.paths import Location, Scope
from handrail.kit.walk import rules_above, rules_in


class Kept:
    """The decisions below one directory; each directory's rules are read once."""

    def __init__(self, scope: Scope, start: Location) -> None:
        self._scope = scope
        self._start = start
        above, self._names = rules_above(scope, start)
        self._rules: dict[bytes, Ignore | None] = {b"": rules_in(scope, start, above, len(self._names))}

    def has(self, relative: bytes) -> bool:
        """Whether the file (relative to the start) is part of the search."""
        rules = self._in(relative.rpartition(b"/")[0])
        return rules is not None and not rules.ignored(self._path(relative), is_dir=False)

    def _in(self, directory: bytes) -> Ignore | None:
        """The rules in force in a directory, None when it or one above it is ignored."""
        if directory in self._rules:
            return self._rules[directory]
        above = self._in(directory.rpartition(b"/")[0])
        path = self._path(directory)
        rules = None
        if above is not None and not above.ignored(path, is_dir=True):
            start = self._start
            relative = start.relative + b"/" + directory if start.relative else directory
            rules = rules_in(self._scope, Location(start.root, relative, start.path + "/" + os.fsdecode(directory)), above, len(path))
        self._rules[directory] = rules
        return rules

    def _path(self, relative: bytes) -> tuple[str, ...]:
        return (*self._names, *relative.decode(NAMES).split("/"))
