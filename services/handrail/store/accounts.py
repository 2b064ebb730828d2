"""Users, workspaces and members. What everybody may see of themselves, and what an administrator manages."""

from __future__ import annotations

from handrail.store import records, session
from handrail.store.pool import Pool
from handrail.store.query import one, rows, run
from handrail.store.records import MembershipRow, UserRow, WorkspaceRow
from handrail.store.statements import load

SQL = load("accounts")


async def memberships(pool: Pool, user_id: str) -> list[MembershipRow]:
    """The workspaces of a user, oldest first."""
    async with session.tenant(pool, user_id) as connection:
        found = await rows(connection, SQL["own_memberships"])
    return [MembershipRow(records.workspace(row), row["role"]) for row in found]


async def update_workspace(
    pool: Pool, user_id: str, workspace_id: str, *, root: str | None, allowed_paths: list[str] | None
) -> WorkspaceRow | None:
    """Change root or extra directories as an owner of it; None when `user_id` is none."""
    values = {"workspace_id": workspace_id, "root": root, "allowed_paths": allowed_paths}
    async with session.tenant(pool, user_id) as connection:
        row = await one(connection, SQL["update_workspace"], values)
    return records.workspace(row) if row else None


async def users(pool: Pool) -> list[dict[str, object]]:
    """Every user with the number of devices (administrator)."""
    async with session.admin(pool) as connection:
        return await rows(connection, SQL["all_users"])


async def user(pool: Pool, name: str | None) -> UserRow | None:
    """By name; None as name = the first administrator (administrator)."""
    async with session.admin(pool) as connection:
        row = await one(connection, SQL["user_by_name"] if name else SQL["first_user"], {"name": name})
    return records.user(row) if row else None


async def add_user(pool: Pool, name: str, *, is_admin: bool, is_auditor: bool) -> str | None:
    """The new id; None when the name is taken."""
    async with session.admin(pool) as connection:
        row = await one(connection, SQL["add_user"], {"name": name, "is_admin": is_admin, "is_auditor": is_auditor})
    return str(row["user_id"]) if row else None


async def remove_user(pool: Pool, name: str) -> str | None:
    """The id of the user who was removed; None when there is none or it is the last administrator."""
    async with session.admin(pool) as connection:
        row = await one(connection, SQL["remove_user"], {"name": name})
    return str(row["user_id"]) if row else None


async def workspaces(pool: Pool) -> list[dict[str, object]]:
    """Every workspace with its members (administrator)."""
    async with session.admin(pool) as connection:
        return await rows(connection, SQL["all_workspaces"])


async def workspace(pool: Pool, name: str) -> WorkspaceRow | None:
    """By name (administrator)."""
    async with session.admin(pool) as connection:
        row = await one(connection, SQL["workspace_by_name"], {"name": name})
    return records.workspace(row) if row else None


async def add_workspace(pool: Pool, *, name: str, root: str, allowed_paths: list[str], owner_id: str) -> str | None:
    """A workspace with its first owner; its id, None when the name is taken."""
    async with session.admin(pool) as connection:
        row = await one(connection, SQL["add_workspace"], {"name": name, "root": root, "allowed_paths": allowed_paths})
        if row is None:
            return None
        await run(connection, SQL["set_member"], {"workspace_id": row["workspace_id"], "user_id": owner_id, "role": "owner"})
    return str(row["workspace_id"])


async def set_member(pool: Pool, workspace_id: str, user_id: str, role: str) -> None:
    """Add a member or change the role."""
    async with session.admin(pool) as connection:
        await run(connection, SQL["set_member"], {"workspace_id": workspace_id, "user_id": user_id, "role": role})


async def remove_member(pool: Pool, workspace_id: str, user_id: str) -> bool:
    """Take a member out, with the devices that work there; False when there is none."""
    async with session.admin(pool) as connection:
        return await one(connection, SQL["remove_member"], {"workspace_id": workspace_id, "user_id": user_id}) is not None


async def devices(pool: Pool, user_name: str | None) -> list[dict[str, object]]:
    """Every device, or those of one user (administrator)."""
    async with session.admin(pool) as connection:
        return await rows(connection, SQL["all_devices"], {"user": user_name})


async def remove_device(pool: Pool, device_id: str) -> str | None:
    """End any device (administrator); the id of its user, None when there is none."""
    async with session.admin(pool) as connection:
        row = await one(connection, SQL["remove_device"], {"device_id": device_id})
    return str(row["user_id"]) if row else None
