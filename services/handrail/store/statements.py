"""Named SQL statements out of `sql/<domain>.sql`.

    -- name: device_by_token
    -- The device whose token has this hash.
    select ...

A statement is readable alone. Nothing here builds SQL: `%(name)s` are psycopg's own parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources

MARK = re.compile(r"^-- name: ([a-z][a-z0-9_]*)$", re.MULTILINE)


class Statements(Mapping[str, bytes]):
    """Statements of one domain by name. They are bytes because psycopg takes text only as a literal."""

    def __init__(self, domain: str, text: str) -> None:
        """Raises ValueError for a name that is there twice or text before the first name."""
        self._domain = domain
        self._by_name: dict[str, bytes] = {}
        marks = list(MARK.finditer(text))
        if not marks or text[: marks[0].start()].strip(" \n"):
            raise ValueError(f"{domain}.sql must begin with a '-- name:' line")
        for mark, following in zip(marks, [*marks[1:], None], strict=True):
            body = text[mark.end() : following.start() if following else None].strip()
            if mark[1] in self._by_name:
                raise ValueError(f"{domain}.sql: {mark[1]} is there twice")
            self._by_name[mark[1]] = body.encode()

    def __getitem__(self, name: str) -> bytes:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        return f"Statements({self._domain!r}, {len(self)})"


@cache
def load(domain: str) -> Statements:
    """The statements of `sql/<domain>.sql`. Raises FileNotFoundError, ValueError."""
    text = resources.files("handrail.store").joinpath("sql", f"{domain}.sql").read_text(encoding="utf-8")
    return Statements(domain, text)
