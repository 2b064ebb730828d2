"""paircode."""

from __future__ import annotations

from typing import Annotated

import typer

from handrail.cli import client, say
from handrail.cli.say import t
from handrail.cli.types import AsJson, Data

User = Annotated[str | None, typer.Option("--user", metavar="NAME", help=t("Whose code (the first user).", "为哪个用户（默认首个用户）。"))]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("paircode", help=t("Show a pairing code.", "显示配对码。"))(paircode)


def paircode(user: User = None, as_json: AsJson = False, data: Data = None) -> None:
    """The code that is good now and for how long."""
    answer = client.admin(data).post("/admin/paircode", user=user)
    if as_json:
        say.data({"code": answer["code"], "expires_in_s": answer["expires_in_s"]})
        return
    say.out(str(answer["code"]))
    say.note(t(f"good for {answer['expires_in_s']} s", f"{answer['expires_in_s']} 秒内有效"))
