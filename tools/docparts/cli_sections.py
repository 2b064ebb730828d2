"""Sections of docs/cli.md, from the commands themselves."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import typer
import typer.main
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

Command = TyperCommand | TyperGroup

ROOT = Path(__file__).resolve().parents[2]


def root() -> TyperGroup:
    """The `handrail` command."""
    app = importlib.import_module("handrail.cli.app").app
    command = typer.main.get_command(app)
    if not isinstance(command, TyperGroup):
        raise TypeError("handrail is a group of commands")
    return command


def walk(command: Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Command]]:
    """Every command below `command` that is not hidden, groups before what they hold."""
    if command.hidden:
        return
    yield path, command
    if isinstance(command, TyperGroup):
        for name, child in command.commands.items():
            if isinstance(child, TyperCommand | TyperGroup):
                yield from walk(child, (*path, name))


def commands() -> str:
    """A section a command: usage, what it does, its options. In a process of its own: help is worded when it is imported."""
    environment = {**os.environ, "HANDRAIL_LANG": "en"}
    argv = [sys.executable, "-m", "tools.docparts.cli_sections"]
    return subprocess.run(argv, check=True, capture_output=True, text=True, env=environment, cwd=ROOT).stdout


def sections() -> str:
    """The text, in the language of this process."""
    return "\n\n".join(_section(path, command) for path, command in walk(root(), ("handrail",)))


def _section(path: tuple[str, ...], command: Command) -> str:
    lines = [f"{'#' * min(4, 1 + len(path))} `{' '.join([*path, *_usage(command)])}`", "", _first(command.help)]
    shown = options(command)
    if shown:
        lines += ["", "| option | meaning |", "|---|---|"]
        lines += [f"| `{_spelling(option)}` | {_first(option.help)} |" for option in shown]
    return "\n".join(lines)


def options(command: Command) -> list[TyperOption]:
    """The options of a command that are not hidden."""
    return [parameter for parameter in command.params if isinstance(parameter, TyperOption) and not parameter.hidden]


def _usage(command: Command) -> list[str]:
    arguments = [parameter for parameter in command.params if isinstance(parameter, TyperArgument)]
    words = [_argument(parameter) for parameter in arguments]
    return [*words, "COMMAND"] if isinstance(command, TyperGroup) else words


def _argument(argument: TyperArgument) -> str:
    name = (argument.metavar or argument.name or "").strip("[]").upper() + ("..." if argument.nargs != 1 else "")
    return name if argument.required else f"[{name}]"


def _spelling(option: TyperOption) -> str:
    names = ", ".join([*option.opts, *option.secondary_opts])
    if option.is_flag:
        return names
    return f"{names} {(option.metavar or option.name or 'VALUE').upper()}"


def _first(text: str | None) -> str:
    """The first paragraph on one line, fit for a table."""
    return " ".join((text or "").strip().split("\n\n")[0].split()).replace("|", "\\|")


if __name__ == "__main__":
    print(sections())
