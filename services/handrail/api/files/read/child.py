"""`python -m handrail.api.files.read.child FD KIND START COUNT`: what is in a document, as JSON on stdout.

Reads hostile input, so it gives up everything first (`childjail`). What goes wrong is an exit code and one word; what a
library raises on a broken document ends this process with code 1, a bomb ends it somehow: this process and nothing else.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import IO, Any, Protocol, cast

import orjson

from handrail.api.files.childjail import give_up

MEMORY = 1 << 30  # bytes
CPU_S = 20
NOT_ONE, REFUSED = 3, 4  # exit codes; anything else but 0 is a bomb's work too
KINDS = {"pdf": "pdf", "word": "word", "slides": "slides", "archive": "archive", "notebook": "notebook"}


class Refused(Exception):
    """The document is not read; the argument is one word why."""


class NotOne(Exception):
    """It is no document of this kind."""


class Reader(Protocol):
    """A module of this package for one kind."""

    def read(self, file: IO[bytes], start: int, count: int) -> dict[str, Any]:
        """Parts `start`..`start + count` (from 1) of the document. Raises Refused, NotOne."""
        ...


def main(fd: int, kind: str, start: int, count: int) -> int:
    """Print what was found; the exit code."""
    reader = cast("Reader", importlib.import_module(f"handrail.api.files.read.of_{KINDS[kind]}"))
    give_up(memory=MEMORY, cpu_s=CPU_S)
    with os.fdopen(fd, "rb") as file:
        try:
            found = reader.read(file, start, count)
        except NotOne:
            return NOT_ONE
        except Refused as exc:
            sys.stdout.write(str(exc))
            return REFUSED
        except (MemoryError, RecursionError):
            sys.stdout.write("memory")
            return REFUSED
    sys.stdout.buffer.write(orjson.dumps(found))
    return 0


if __name__ == "__main__":
    # the module that the readers import their errors from is this one, not a second copy called __main__
    child = importlib.import_module("handrail.api.files.read.child")
    sys.exit(child.main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
