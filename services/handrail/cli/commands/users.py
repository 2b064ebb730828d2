"""user add | list | remove."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from handrail.cli import client, say
from handrail.cli.say import t
from handrail.cli.types import AsJson, Data

Name = Annotated[str, typer.Argument(metavar="NAME", help=t("Name of the user.", "用户名。"))]
IsAdmin = Annotated[bool, typer.Option("--admin", help=t("May manage users, devices and the service.", "可管理用户、设备与服务。"))]
IsAuditor = Annotated[bool, typer.Option("--auditor", help=t("May read the audit log of everybody.", "可读取所有人的审计日志。"))]


def register(app: typer.Typer) -> None:
    """Add `user` with its subcommands."""
    group = typer.Typer(help=t("Users.", "用户管理。"), no_args_is_help=True, rich_markup_mode=None)
    group.command("add", help=t("Add a user.", "添加用户。"))(add)
    group.command("list", help=t("List users.", "列出用户。"))(list_users)
    group.command("remove", help=t("Remove a user with all devices.", "删除用户及其全部设备。"))(remove)
    app.add_typer(group, name="user")


def add(name: Name, admin: IsAdmin = False, auditor: IsAuditor = False, as_json: AsJson = False, data: Data = None) -> None:
    """A user without devices; `handrail paircode --user NAME` pairs the first one."""
    answer = client.admin(data).post("/admin/users", name=name, is_admin=admin, is_auditor=auditor)
    if as_json:
        say.data(answer)
    else:
        say.note(
            t(
                f"Added {name}. Pair a device with: handrail paircode --user {name}",
                f"已添加 {name}。配对设备：handrail paircode --user {name}",
            )
        )


def list_users(as_json: AsJson = False, data: Data = None) -> None:
    """Everybody."""
    answer = client.admin(data).get("/admin/users")
    if as_json:
        say.data(answer)
        return
    rows = cast("list[dict[str, object]]", answer.get("users", []))
    yes, no = t("yes", "是"), t("no", "否")
    titles = (t("name", "用户名"), t("admin", "管理员"), t("auditor", "审计员"), t("id", "ID"))
    say.table(
        titles, [(row["name"], yes if row.get("isAdmin") else no, yes if row.get("isAuditor") else no, row.get("id", "")) for row in rows]
    )


def remove(name: Name, data: Data = None) -> None:
    """Ends the user's devices and sessions at once."""
    client.admin(data).delete("/admin/users/" + client.segment(name))
    say.note(t(f"Removed {name}.", f"已删除 {name}。"))
