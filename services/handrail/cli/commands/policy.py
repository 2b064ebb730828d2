"""policy explain."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from handrail.cli import client, say
from handrail.cli.say import t
from handrail.cli.types import AsJson, Data

EXIT = {"allow": 0, "confirm": 30, "deny": 31}
Command = Annotated[str, typer.Argument(metavar="COMMAND", help=t("A shell command, quoted.", "shell 命令（加引号）。"))]


def register(app: typer.Typer) -> None:
    """Add `policy` with its subcommand."""
    group = typer.Typer(help=t("The command policy.", "命令策略。"), no_args_is_help=True, rich_markup_mode=None)

    def only_subcommands() -> None:
        """Keeps `policy explain` two words: typer folds a lone command into its group."""

    group.callback()(only_subcommands)
    group.command("explain", help=t("Say what the policy thinks of a command, without running it.", "说明策略对某命令的判定（不执行）。"))(
        explain
    )
    app.add_typer(group, name="policy")


def explain(command: Command, as_json: AsJson = False, data: Data = None) -> None:
    """0 allow, 30 confirm, 31 deny."""
    answer = client.admin(data).post("/admin/policy/explain", command=command)
    level = str(answer.get("level", "deny"))
    if as_json:
        say.data(answer)
    else:
        say.out(level)
        for reason in cast("list[dict[str, object]]", answer.get("reasons") or []):
            say.out(f"  [{reason.get('severity', '')}] {reason.get('rule', '')}: {reason.get(say.lang(), '')}")
    raise typer.Exit(EXIT.get(level, EXIT["deny"]))
