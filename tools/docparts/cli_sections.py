"""Sections of docs/cli.md, from the commands themselves."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import typer.main

ROOT = Path(__file__).resolve().parents[2]


def root() -> click.Group:
    """The `handrail` command."""
    app = importlib.import_module("handrail.cli.app").app
    command = typer.main.get_command(app)
    if not isinstance(command, click.Group):
        raise TypeError("handrail is a group of commands")
    return command


def walk(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command below `command` that is not hidden, groups before what they hold."""
    if command.hidden:
        return
    yield path, command
    if isinstance(command, click.Group):
        for name, child in command.commands.items():
            yield from walk(child, (*path, name))


def commands() -> str:
    """A section a command: usage, what it does, its options. In a process of its own: help is worded when it is imported."""
    environment = {**os.environ, "HANDRAIL_LANG": "en"}
    argv = [sys.executable, "-m", "tools.docparts.cli_sections"]
    return subprocess.run(argv, check=True, capture_output=True, text=True, env=environment, cwd=ROOT).stdout


def sections() -> str:
    """The text, in the language of this process."""
    return "\n\n".join(_section(path, command) for path, command in walk(root(), ("handrail",)))


def _section(path: tuple[str, ...], command: click.Command) -> str:
    lines = [f"{'#' * min(4, 2 + len(path))} `{' '.join([*path, *_usage(command)])}`", "", _first(command.help)]
    shown = options(command)
    if shown:
        lines += ["", "| option | meaning |", "|---|---|"]
        lines += [f"| `{_spelling(option)}` | {_first(option.help)} |" for option in shown]
    return "\n".join(lines)


def options(command: click.Command) -> list[click.Option]:
    """The options of a command that are not hidden."""
    return [parameter for parameter in command.params if isinstance(parameter, click.Option) and not parameter.hidden]


def _usage(command: click.Command) -> list[str]:
    arguments = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
    words = [parameter.make_metavar(click.Context(command)) for parameter in arguments]
    return [*words, "COMMAND"] if isinstance(command, click.Group) else words


def _spelling(option: click.Option) -> str:
    names = ", ".join([*option.opts, *option.secondary_opts])
    return names if option.is_flag else f"{names} {option.make_metavar(click.Context(click.Command('x')))}"


def _first(text: str | None) -> str:
    """The first paragraph on one line, fit for a table."""
    return " ".join((text or "").strip().split("\n\n")[0].split()).replace("|", "\\|")


if __name__ == "__main__":
    print(sections())
