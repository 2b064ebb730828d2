"""The first user and workspace."""

from __future__ import annotations

import orjson

from handrail.store.pool import Connection
from handrail.store.statements import load

SQL = load("init")
WORKSPACE = "main"


async def make_first(connection: Connection, *, owner: str, root: str, allowed: list[str]) -> str:
    """Create them when there is no user yet, else move the workspace if it was started with another root.

    Returns "created", "moved" or "kept". `connection` is the owner role's.
    """
    started_with = orjson.dumps({"root": root, "allowed": allowed}).decode()
    workspace = {"name": WORKSPACE, "root": root, "allowed": allowed, "started_with": started_with}
    async with connection.transaction():
        await connection.execute(SQL["admin_scope"])
        if await (await connection.execute(SQL["any_user"])).fetchone():
            moved = await (await connection.execute(SQL["move_workspace"], workspace)).fetchone()
            return "moved" if moved else "kept"
        user = await (await connection.execute(SQL["add_owner"], {"name": owner})).fetchone()
        place = await (await connection.execute(SQL["add_workspace"], workspace)).fetchone()
        if user is None or place is None:
            raise LookupError("insert returned no row")
        await connection.execute(SQL["add_member"], {"workspace_id": place["workspace_id"], "user_id": user["user_id"]})
    return "created"
