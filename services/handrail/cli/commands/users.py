"""user add | list | remove."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from handrail.cli import client, say
from handrail.cli.say import t
from handrail.cli.types import ROLES, AsJson, Data

Name = Annotated[str, typer.Argument(metavar="NAME", help=t("Name of the user.", "用户名。"))]
IsAdmin = Annotated[bool, typer.Option("--admin", help=t("May manage users, devices and the service.", "可管理用户、设备与服务。"))]
IsAuditor = Annotated[bool, typer.Option("--auditor", help=t("May read the audit log of everybody.", "可读取所有人的审计日志。"))]

Workspace = Annotated[
    str | None, typer.Option("--workspace", metavar="NAME", help=t("Make it a member of this workspace.", "加入此工作区。"))
]
Role = Annotated[str, typer.Option("--role", help=ROLES)]


def register(app: typer.Typer) -> None:
    """Add `user` with its subcommands."""
    group = typer.Typer(help=t("Users.", "用户管理。"), no_args_is_help=True, rich_markup_mode=None)
    group.command("add", help=t("Add a user.", "添加用户。"))(add)
    group.command("list", help=t("List users.", "列出用户。"))(list_users)
    group.command("remove", help=t("Remove a user with all devices.", "删除用户及其全部设备。"))(remove)
    app.add_typer(group, name="user")


def add(
    name: Name,
    admin: IsAdmin = False,
    auditor: IsAuditor = False,
    workspace: Workspace = None,
    role: Role = "member",
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """A user without devices. Pairing needs a workspace: `--workspace`, or `handrail workspace member` later."""
    service = client.admin(data)
    answer = service.post("/admin/users", name=name, admin=admin, auditor=auditor)
    if workspace is not None:
        service.post("/admin/workspaces/members", workspace=workspace, user=name, role=role)
    if as_json:
        say.data(answer)
        return
    say.note(t(f"Added {name}.", f"已添加 {name}。"))
    if workspace is None:
        step = f"handrail workspace member WORKSPACE {name}"
        say.note(t(f"To work, {name} needs a workspace: {step}", f"{name} 还需要加入一个工作区：{step}"))
    else:
        step = f"handrail paircode --user {name}"
        say.note(t(f"Pair a device with: {step}", f"配对设备：{step}"))


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
        titles, [(row["name"], yes if row.get("admin") else no, yes if row.get("auditor") else no, row.get("id", "")) for row in rows]
    )


def remove(name: Name, data: Data = None) -> None:
    """Ends the user's devices and sessions at once."""
    client.admin(data).post("/admin/users/remove", name=name)
    say.note(t(f"Removed {name}.", f"已删除 {name}。"))
