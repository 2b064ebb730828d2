"""The `handrail` command (short: `hr`). This module only puts the commands together and turns errors into exit codes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import typer

from handrail import __version__
from handrail.cli import say
from handrail.cli.errors import CliError
from handrail.contract.errors import HandrailError

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point: never a trace for an expected failure, always an exit code of docs/cli.md."""
    sys.exit(run(list(sys.argv[1:] if argv is None else argv)))


def run(argv: list[str]) -> int:
    """One invocation; the exit code."""
    argv = take_lang(argv)
    from handrail.cli.app import app  # noqa: PLC0415 - its help texts are in the language chosen above

    try:
        app(argv, prog_name="handrail")
    except SystemExit as exc:  # typer's own way out: usage errors (2), --help, typer.Exit
        return exc.code if isinstance(exc.code, int) else 0
    except HandrailError as exc:
        say.failure(exc, as_json="--json" in argv)
        return exc.exit_code if isinstance(exc, CliError) else 1
    return 0


def take_lang(argv: list[str]) -> list[str]:
    """Take `--lang zh|en` out of the arguments, wherever it stands, into HANDRAIL_LANG."""
    kept: list[str] = []
    rest = iter(argv)
    for word in rest:
        if word == "--":
            return [*kept, word, *rest]
        name, equals, value = word.partition("=")
        if name != "--lang":
            kept.append(word)
            continue
        value = value if equals else next(rest, "")
        if value not in ("zh", "en"):
            raise SystemExit(f"handrail: --lang zh | en, not {value[:20]!r}")
        os.environ["HANDRAIL_LANG"] = value
    return kept


def commands() -> list[str]:
    """Every command with its group, e.g. 'user add': the documentation test compares them with docs/cli.md."""
    from handrail.cli.app import app  # noqa: PLC0415 - as in run

    found: list[str] = []

    def walk(command: object, path: str) -> None:
        children: dict[str, object] | None = getattr(command, "commands", None)
        if children is None:
            found.append(path)
        for name, child in (children or {}).items():
            walk(child, f"{path} {name}".strip())

    walk(typer.main.get_command(app), "")
    return sorted(found)


def version_text() -> str:
    """What --version prints."""
    return f"handrail {__version__}"


if __name__ == "__main__":
    main()
