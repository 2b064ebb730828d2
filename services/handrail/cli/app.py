"""The command tree."""

from __future__ import annotations

from typing import Annotated

import typer

from handrail.cli import say
from handrail.cli.commands import audit, config_cmd, devices, lifecycle, logs, paircode, policy, users, workspaces
from handrail.cli.main import version_text
from handrail.cli.say import t
from handrail.cli.types import AsJson

app = typer.Typer(
    name="handrail",
    help=t(
        "Safe hands on a machine for AI assistants. --lang zh|en chooses the language of any command.",
        "为 AI 助手提供安全的本机操作能力。任何命令都可用 --lang zh|en 选择语言。",
    ),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:  # noqa: FBT001 - typer's callback signature
    if value:
        say.out(version_text())
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", "-v", is_eager=True, callback=_version, help=t("Print the version.", "显示版本号。"))
    ] = False,
) -> None:
    """Options before a command."""


@app.command("version", help=t("Print the version.", "显示版本号。"))
def version(as_json: AsJson = False) -> None:
    """As --version."""
    if as_json:
        say.data({"version": version_text().split()[1]})
    else:
        say.out(version_text())


@app.command("help", help=t("Show help of all commands, or of one.", "显示全部或某个命令的帮助。"))
def help_command(command: Annotated[list[str] | None, typer.Argument(help=t("A command.", "命令名。"))] = None) -> None:
    """As --help, for those who type a word."""
    app([*(command or ()), "--help"], prog_name="handrail")


lifecycle.register(app)
paircode.register(app)
config_cmd.register(app)
users.register(app)
workspaces.register(app)
devices.register(app)
logs.register(app)
audit.register(app)
policy.register(app)
