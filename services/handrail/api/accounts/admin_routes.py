"""What the command line asks over the local socket: codes, users, workspaces, devices. The socket's 0600 is the credential."""

from __future__ import annotations

from fastapi import Request

from handrail.api.accounts.routes import device_json, millis
from handrail.api.accounts.schemas import (
    CodeBody,
    DeviceIdBody,
    MemberBody,
    MemberNameBody,
    UserBody,
    UserNameBody,
    WorkspaceBody,
)
from handrail.api.audit.admin_routes import router as audit
from handrail.api.http import Router, services_of

router = Router(tags=["admin"])
DONE: dict[str, object] = {"success": True}


@router.post("/admin/paircode")
async def paircode(request: Request, body: CodeBody) -> dict[str, object]:
    """A new pairing code: {code, expires_in_s, expiresAt (ms), user, hardened}."""
    code = await services_of(request).accounts.pairing.issue(body.user, workspace=body.workspace, display=body.display)
    return {
        "success": True,
        "code": code.text,
        "expires_in_s": code.ttl_s,
        "expiresAt": millis(code.expires_at),
        "user": code.user_name,
        "hardened": code.hardened,
    }


@router.get("/admin/users")
async def users(request: Request) -> dict[str, object]:
    """Every user."""
    found = await services_of(request).accounts.manage.users()
    keys = {"user_id": "id", "name": "name", "is_admin": "admin", "is_auditor": "auditor", "devices": "devices"}
    shown = [{new: row[old] for old, new in keys.items()} | {"createdAt": millis(row["created_at"])} for row in found]
    return {"success": True, "users": shown}


@router.post("/admin/users")
async def add_user(request: Request, body: UserBody) -> dict[str, object]:
    """A new user; it needs a workspace before it can pair."""
    user_id = await services_of(request).accounts.manage.add_user(body.name, is_admin=body.admin, is_auditor=body.auditor)
    return {"success": True, "id": user_id, "name": body.name}


@router.post("/admin/users/remove")
async def remove_user(request: Request, body: UserNameBody) -> dict[str, object]:
    """End a user with all devices."""
    await services_of(request).accounts.manage.remove_user(body.name)
    return DONE


@router.get("/admin/workspaces")
async def workspaces(request: Request) -> dict[str, object]:
    """Every workspace with its members."""
    found = await services_of(request).accounts.manage.workspaces()
    keys = {"workspace_id": "id", "name": "name", "root": "root", "allowed_paths": "allowedPaths", "members": "members"}
    return {"success": True, "workspaces": [{new: row[old] for old, new in keys.items()} for row in found]}


@router.post("/admin/workspaces")
async def add_workspace(request: Request, body: WorkspaceBody) -> dict[str, object]:
    """A new workspace with its first owner."""
    workspace_id = await services_of(request).accounts.manage.add_workspace(body.name, root=body.root, owner=body.owner)
    return {"success": True, "id": workspace_id, "name": body.name}


@router.post("/admin/workspaces/members")
async def set_member(request: Request, body: MemberBody) -> dict[str, object]:
    """Add a member or change the role."""
    await services_of(request).accounts.manage.set_member(body.workspace, body.user, body.role)
    return DONE


@router.post("/admin/workspaces/members/remove")
async def remove_member(request: Request, body: MemberNameBody) -> dict[str, object]:
    """Take a member out of a workspace."""
    await services_of(request).accounts.manage.remove_member(body.workspace, body.user)
    return DONE


@router.get("/admin/devices")
async def devices(request: Request) -> dict[str, object]:
    """Every device, or those of `?user=`."""
    found = await services_of(request).accounts.manage.devices(request.query_params.get("user"))
    return {"success": True, "devices": [device_json(row) | {"user": row["user"], "workspace": row["workspace"]} for row in found]}


@router.post("/admin/devices/revoke")
async def revoke(request: Request, body: DeviceIdBody) -> dict[str, object]:
    """End a device."""
    await services_of(request).accounts.manage.revoke_any(body.id)
    return DONE


router.include_router(audit)
