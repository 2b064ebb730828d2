"""workspace add | list | member."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from handrail.cli import client, say
from handrail.cli.say import t
from handrail.cli.types import ROLES, AsJson, Data

Name = Annotated[str, typer.Argument(metavar="NAME", help=t("Name of the workspace.", "工作区名称。"))]
Root = Annotated[str, typer.Argument(metavar="DIR", help=t("Its root directory.", "工作区根目录。"))]
User = Annotated[str, typer.Argument(metavar="USER", help=t("Name of the user.", "用户名。"))]
Owner = Annotated[str, typer.Option("--owner", metavar="USER", help=t("Its first owner (owner).", "首个所有者（owner）。"))]
Role = Annotated[str, typer.Option("--role", help=ROLES)]
Remove = Annotated[bool, typer.Option("--remove", help=t("Take the user out of the workspace.", "将用户移出工作区。"))]


def register(app: typer.Typer) -> None:
    """Add `workspace` with its subcommands."""
    group = typer.Typer(help=t("Workspaces and their members.", "工作区及其成员。"), no_args_is_help=True, rich_markup_mode=None)
    group.command("add", help=t("Add a workspace.", "添加工作区。"))(add)
    group.command("list", help=t("List workspaces and members.", "列出工作区与成员。"))(list_workspaces)
    group.command("member", help=t("Add a member, change a role, or remove a member.", "添加成员、修改角色或移除成员。"))(member)
    app.add_typer(group, name="workspace")


def add(name: Name, root: Root, owner: Owner = "owner", as_json: AsJson = False, data: Data = None) -> None:
    """A directory of its own below or beside the work root."""
    full = str(Path(root).expanduser().resolve())
    answer = client.admin(data).post("/admin/workspaces", name=name, root=full, owner=owner)
    if as_json:
        say.data(answer)
    else:
        say.note(t(f"Added {name} at {full}.", f"已添加 {name}，位于 {full}。"))


def list_workspaces(as_json: AsJson = False, data: Data = None) -> None:
    """Every workspace."""
    answer = client.admin(data).get("/admin/workspaces")
    if as_json:
        say.data(answer)
        return
    rows: list[tuple[object, ...]] = []
    for row in cast("list[dict[str, object]]", answer.get("workspaces", [])):
        members = cast("list[dict[str, object]]", row.get("members", []))
        rows.append((row["name"], row.get("root", ""), ", ".join(f"{one['user']} ({one['role']})" for one in members)))
    say.table((t("name", "名称"), t("root", "根目录"), t("members", "成员")), rows)


def member(workspace: Name, user: User, role: Role = "member", remove: Remove = False, data: Data = None) -> None:
    """Put a user into a workspace with a role; again with another role changes it."""
    service = client.admin(data)
    if remove:
        service.post("/admin/workspaces/members/remove", workspace=workspace, user=user)
        say.note(t(f"{user} is no longer in {workspace}.", f"{user} 已移出 {workspace}。"))
        return
    service.post("/admin/workspaces/members", workspace=workspace, user=user, role=role)
    say.note(t(f"{user} is {role} in {workspace}.", f"{user} 在 {workspace} 中的角色为 {role}。"))
