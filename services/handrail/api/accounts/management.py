"""What an administrator does with users, workspaces and devices, and a user with their own devices. All of it is audited."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Protocol

from handrail.api.accounts.errors import (
    BadName,
    NotAMember,
    RelativeRoot,
    UnknownDevice,
    UnknownUser,
    UnknownWorkspace,
    UserExists,
    UserStays,
    WorkspaceExists,
)
from handrail.api.accounts.labels import clean_label
from handrail.api.accounts.news import News
from handrail.api.audit.events import AuditEvent
from handrail.api.context import Role
from handrail.store import accounts as store
from handrail.store import devices
from handrail.store.pool import Pool
from handrail.store.records import UserRow, WorkspaceRow

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}\Z")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
Publish = Callable[[News], Awaitable[bool]]


class AuditLog(Protocol):
    """What management needs of the audit log."""

    async def effect(self, event: AuditEvent) -> str: ...


class Management:
    """Changes are audited first, then made, then told to every process."""

    def __init__(self, *, pool: Pool, audit: AuditLog, publish: Publish) -> None:
        self._pool = pool
        self._audit = audit
        self._publish = publish

    async def users(self) -> list[dict[str, object]]:
        return await store.users(self._pool)

    async def add_user(self, name: str, *, is_admin: bool = False, is_auditor: bool = False) -> str:
        """The id of the new user. Raises BadName, UserExists."""
        _check_name(name)
        if await store.user(self._pool, name) is not None:
            raise UserExists(name=name)
        await self._record("user_add", name=name, admin=is_admin, auditor=is_auditor)
        user_id = await store.add_user(self._pool, name, is_admin=is_admin, is_auditor=is_auditor)
        if user_id is None:
            raise UserExists(name=name)
        return user_id

    async def remove_user(self, name: str) -> None:
        """End the user and all devices. Raises UserStays for an unknown user and the last administrator."""
        ended = await self._device_ids(name)
        await self._record("user_remove", name=name[:64])
        user_id = await store.remove_user(self._pool, name)
        if user_id is None:
            raise UserStays(name=name[:64])
        await self._publish(News("user", (user_id,)))
        await self._end(ended)

    async def workspaces(self) -> list[dict[str, object]]:
        return await store.workspaces(self._pool)

    async def add_workspace(self, name: str, *, root: str, owner: str) -> str:
        """The id of the new workspace with its first owner. Raises BadName, RelativeRoot, UnknownUser, WorkspaceExists."""
        _check_name(name)
        if not root.startswith("/") or "\0" in root:
            raise RelativeRoot
        user = await self._user(owner)
        if await store.workspace(self._pool, name) is not None:
            raise WorkspaceExists(name=name)
        await self._record("workspace_add", name=name, root=root, owner=owner)
        workspace_id = await store.add_workspace(self._pool, name=name, root=root, allowed_paths=[], owner_id=user.id)
        if workspace_id is None:
            raise WorkspaceExists(name=name)
        return workspace_id

    async def set_member(self, workspace: str, user: str, role: Role) -> None:
        """Add a member or change the role; holds at the member's next request. Raises UnknownWorkspace, UnknownUser."""
        place, who = await self._workspace(workspace), await self._user(user)
        await self._record("member_set", workspace=workspace, user=user, role=role)
        await store.set_member(self._pool, place.id, who.id, role)
        await self._publish(News("user", (who.id,), ended=False))

    async def remove_member(self, workspace: str, user: str) -> None:
        """Take a member out and end the devices that work there. Raises UnknownWorkspace, UnknownUser, NotAMember."""
        place, who = await self._workspace(workspace), await self._user(user)
        ended = await self._device_ids(user, workspace)
        await self._record("member_remove", workspace=workspace, user=user)
        if not await store.remove_member(self._pool, place.id, who.id):
            raise NotAMember(user=user, workspace=workspace)
        await self._publish(News("user", (who.id,), ended=False))
        await self._end(ended)

    async def devices(self, user: str | None = None) -> list[dict[str, object]]:
        return await store.devices(self._pool, user)

    async def revoke_any(self, device_id: str) -> None:
        """End any device. Raises UnknownDevice."""
        _check_id(device_id)
        await self._record("device_revoke", device=device_id)
        if await store.remove_device(self._pool, device_id) is None:
            raise UnknownDevice
        await self._end((device_id,))

    async def revoke_own(self, user_id: str, device_id: str, *, peer: str, request_id: str, by_device: str) -> None:
        """End one of the user's own devices. Raises UnknownDevice, for another user's device too."""
        _check_id(device_id)
        event = AuditEvent(
            "auth", "device_revoke", "warn", user_id, by_device, peer=peer, request_id=request_id, details={"device": device_id}
        )
        await self._audit.effect(event)
        if not await devices.remove(self._pool, user_id, device_id):
            raise UnknownDevice
        await self._end((device_id,))

    async def rename_own(self, user_id: str, device_id: str, name: str) -> str:
        """Give one of the user's own devices another name; returns it cleaned. Raises UnknownDevice, BadName."""
        _check_id(device_id)
        label = clean_label(name)
        if not label:
            raise BadName
        if not await devices.rename(self._pool, user_id, device_id, label):
            raise UnknownDevice
        await self._publish(News("device", (device_id,), ended=False))
        return label

    async def _end(self, device_ids: tuple[str, ...]) -> None:
        if device_ids:
            await self._publish(News("device", device_ids))

    async def _device_ids(self, user: str, workspace: str | None = None) -> tuple[str, ...]:
        found = await store.devices(self._pool, user)
        return tuple(str(row["device_id"]) for row in found if workspace is None or row["workspace"] == workspace)

    async def _user(self, name: str) -> UserRow:
        user = await store.user(self._pool, name)
        if not name or user is None:
            raise UnknownUser(name=name[:64])
        return user

    async def _workspace(self, name: str) -> WorkspaceRow:
        workspace = await store.workspace(self._pool, name)
        if workspace is None:
            raise UnknownWorkspace(name=name[:64])
        return workspace

    async def _record(self, action: str, **details: object) -> None:
        await self._audit.effect(AuditEvent(category="auth", action=action, peer="admin socket", details=details))


def _check_name(name: str) -> None:
    if not NAME.match(name):
        raise BadName


def _check_id(device_id: str) -> None:
    if not UUID.match(device_id):
        raise UnknownDevice
