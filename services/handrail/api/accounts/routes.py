"""Pairing and one's own devices."""

from __future__ import annotations

from typing import cast

from fastapi import Request

from handrail.api.accounts.pairing import PairRequest
from handrail.api.accounts.schemas import DevicesAnswer, DoneAnswer, MeAnswer, NameAnswer, PairAnswer, PairBody, RenameBody
from handrail.api.http import Router, actor_of, services_of
from handrail.contract.errors import Lang
from handrail.contract.ids import new_request_id
from handrail.contract.lang import negotiate

router = Router(tags=["accounts"])
PAIRED: dict[Lang, str] = {"en": "Paired.", "zh": "配对成功。"}


@router.post("/api/pair", response_model=PairAnswer)
async def pair(request: Request, body: PairBody) -> dict[str, object]:
    """Exchange a pairing code for this device's own token. Needs no token."""
    services = services_of(request)
    headers = request.headers
    attempt = PairRequest(
        code=body.code,
        extension_id=body.extensionId,
        origin=headers.get("origin", ""),
        user_agent=headers.get("user-agent", "")[:256],
        peer=request.client.host if request.client else "local",
        request_id=new_request_id(),
    )
    paired = await services.accounts.pair(attempt)
    lang = negotiate(headers.get("accept-language", ""), services.settings.lang)
    return {"success": True, "token": paired.token, "message": PAIRED[lang]}


@router.get("/api/me", response_model=MeAnswer)
async def me(request: Request) -> dict[str, object]:
    """Who the token belongs to and where it works."""
    identity = actor_of(request).identity
    place = identity.workspace
    return {
        "success": True,
        "user": {"id": identity.user_id, "name": identity.user_name, "admin": identity.is_admin, "role": identity.role},
        "device": {"id": identity.device_id, "name": identity.device_name},
        "workspace": {"id": place.id, "name": place.name, "root": place.root, "allowedPaths": list(place.allowed_paths)},
    }


@router.get("/api/devices", response_model=DevicesAnswer)
async def list_devices(request: Request) -> dict[str, object]:
    """The user's own devices."""
    actor = actor_of(request)
    found = await services_of(request).accounts.devices(actor.user_id)
    return {"success": True, "devices": [device_json(row) | {"current": row["device_id"] == actor.identity.device_id} for row in found]}


@router.post("/api/devices/{device_id}", response_model=NameAnswer)
async def rename_device(request: Request, device_id: str, body: RenameBody) -> dict[str, object]:
    """Give one of one's own devices another name."""
    name = await services_of(request).accounts.manage.rename_own(actor_of(request).user_id, device_id, body.name)
    return {"success": True, "name": name}


@router.delete("/api/devices/{device_id}", response_model=DoneAnswer)
async def revoke_device(request: Request, device_id: str) -> dict[str, object]:
    """End one of one's own devices: its token fails at the next request and its sockets close."""
    actor = actor_of(request)
    await services_of(request).accounts.manage.revoke_own(
        actor.user_id, device_id, peer=actor.peer, request_id=actor.request_id, by_device=actor.identity.device_id
    )
    return {"success": True}


def device_json(row: dict[str, object]) -> dict[str, object]:
    """A device as the wire shows it; times are ms since the epoch."""
    return {
        "id": row["device_id"],
        "name": row["name"],
        "origin": row["origin"],
        "createdAt": millis(row["created_at"]),
        "lastSeen": millis(row["last_seen"]),
    }


def millis(seconds: object) -> int | None:
    """Seconds since the epoch as whole ms."""
    return None if seconds is None else int(cast("float", seconds) * 1000)
