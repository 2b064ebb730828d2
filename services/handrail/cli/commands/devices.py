"""device list | revoke."""

from __future__ import annotations

import time
from typing import Annotated, cast

import typer

from handrail.cli import client, say
from handrail.cli.say import t
from handrail.cli.types import AsJson, Data

User = Annotated[str | None, typer.Option("--user", metavar="NAME", help=t("Only this user's.", "仅显示该用户的设备。"))]
Device = Annotated[str, typer.Argument(metavar="ID", help=t("Id as `device list` shows it.", "`device list` 显示的 ID。"))]

FIELDS = ("id", "user", "name", "workspace")


def register(app: typer.Typer) -> None:
    """Add `device` with its subcommands."""
    group = typer.Typer(help=t("Paired devices.", "已配对的设备。"), no_args_is_help=True, rich_markup_mode=None)
    group.command("list", help=t("List paired devices.", "列出已配对的设备。"))(list_devices)
    group.command("revoke", help=t("End a device's access at once.", "立即撤销设备的访问。"))(revoke)
    app.add_typer(group, name="device")


def list_devices(user: User = None, as_json: AsJson = False, data: Data = None) -> None:
    """Every device of everybody, or of one user."""
    answer = client.admin(data).get("/admin/devices", user=user)
    if as_json:
        say.data(answer)
        return
    rows = cast("list[dict[str, object]]", answer.get("devices", []))
    titles = (
        t("id", "ID"),
        t("user", "用户"),
        t("name", "名称"),
        t("workspace", "工作区"),
        t("paired", "配对时间"),
        t("last seen", "最近活动"),
    )
    say.table(
        titles, [(*(row.get(field) or "" for field in FIELDS), _when(row.get("createdAt")), _when(row.get("lastSeen"))) for row in rows]
    )


def revoke(device: Device, data: Data = None) -> None:
    """Its next request fails and its sockets close."""
    client.admin(data).post("/admin/devices/revoke", id=device)
    say.note(t("Revoked.", "已撤销。"))


def _when(millis: object) -> str:
    """Local time to the minute; a dash for never."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(millis / 1000)) if isinstance(millis, int | float) else "-"
