"""The service's own data: no word of a command may reach it."""

from __future__ import annotations

import posixpath
import re

from handrail.policy.call import Bench
from handrail.policy.paths import absolute, is_own_data, names_own_data
from handrail.policy.verdict import Context
from handrail.policy.words import Word

OWN_DATA = ("touches the service's own data", "触及服务自身的数据")
GLOBBED = re.compile(r"[*?\[]")


class OwnData:
    """Looks at every word; knows the directory's name and where it can stand."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._name = posixpath.basename(context.data_dir.rstrip("/"))
        self._places = (context.data_dir.casefold(), context.home.casefold() + "/" + self._name.casefold())

    def look(self, bench: Bench, word: Word) -> None:
        for value in word.values:
            if not self._near(value, bench.bases):
                continue
            candidates = (value, value.partition("=")[2]) if "=" in value else (value,)
            if any(is_own_data(path, self._context) for candidate in candidates if candidate for path in absolute(candidate, bench.bases)):
                bench.say("own_data", "deny", (word.start, word.end), *OWN_DATA)
                return
            if self._name in value:
                self._named(bench, word, value)

    def _near(self, value: str, bases: list[str]) -> bool:
        """Whether a word can reach our data at all: it has the name or a wildcard, or a command runs in there. Quick, for every word."""
        if self._name in value or (not value.islower() and self._name.casefold() in value.casefold()):
            return True
        if any(map(value.__contains__, "*?[")):
            head = GLOBBED.split(value, maxsplit=1)[0].casefold()
            if ".." in head or "//" in head or "/." in head or "=" in head or head.startswith("/proc"):
                return True
            starts = [head] if head.startswith("/") else [base.casefold().rstrip("/") + "/" + head for base in bases]
            return any(place.startswith(start) or start.startswith(place) for start in starts for place in self._places)
        return any(base.startswith(self._places[0]) for base in bases)

    def _named(self, bench: Bench, word: Word, value: str) -> None:
        """`-f/path`, `@/path`, `file:///path`; or a directory of this name somewhere else (a link?)."""
        span = (word.start, word.end)
        if names_own_data(value, self._context):
            bench.say("own_data", "deny", span, *OWN_DATA)
        elif self._name.startswith(".") and self._name in value.split("/"):
            bench.say("own_data.name", "confirm", span, "is named like the service's own data", "与服务自身数据目录同名")
