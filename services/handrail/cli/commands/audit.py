"""audit verify."""

from __future__ import annotations

from typing import cast

import typer

from handrail.cli import client, say
from handrail.cli.say import t
from handrail.cli.types import AsJson, Data

EXIT_BROKEN = 20
VERIFY_TIMEOUT_S = 600.0  # a long chain is read whole


def register(app: typer.Typer) -> None:
    """Add `audit` with its subcommand."""
    group = typer.Typer(help=t("The audit log.", "审计日志。"), no_args_is_help=True, rich_markup_mode=None)

    def only_subcommands() -> None:
        """Keeps `audit verify` two words: typer folds a lone command into its group."""

    group.callback()(only_subcommands)
    group.command("verify", help=t("Check every hash chain and checkpoint.", "校验所有哈希链与检查点。"))(verify)
    app.add_typer(group, name="audit")


def verify(as_json: AsJson = False, data: Data = None) -> None:
    """0 when whole, 20 when a row is missing or was changed."""
    answer = client.admin(data).call("POST", "/admin/audit/verify", timeout_s=VERIFY_TIMEOUT_S)
    whole = answer.get("ok") is True
    if as_json:
        say.data(answer)
    else:
        counts = f"{answer.get('rows', 0)} / {answer.get('writers', 0)} / {answer.get('checkpoints', 0)}"
        verdict = t("whole", "完整") if whole else t("BROKEN", "已损坏")
        say.out(t(f"{verdict}: {counts} (rows / writers / checkpoints)", f"{verdict}：{counts}（记录 / 写入者 / 检查点）"))
        for problem in cast("list[dict[str, object]]", answer.get("problems") or []):
            say.out(f"  {problem.get('kind')} {problem.get('record')}: {problem.get('detail')}")
    raise typer.Exit(0 if whole else EXIT_BROKEN)
