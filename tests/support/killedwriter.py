"""Writes two contents in turn through the atomic writer until it is killed; run as a program by the tests."""

from __future__ import annotations

import sys

from handrail.kit import files, pending
from handrail.kit.paths import Root, Scope

SIZE = 2_000_000


def content(number: int) -> bytes:
    return bytes([65 + number % 2]) * SIZE


def main() -> None:
    scope = Scope([Root(sys.argv[1])], home="/nonexistent")
    if sys.argv[2] == "named":
        pending.SELF_FD = "/nonexistent"
    number = 0
    while True:
        files.write(scope, scope.locate("target"), content(number))
        sys.stdout.write("w")
        sys.stdout.flush()
        number += 1


if __name__ == "__main__":
    main()
