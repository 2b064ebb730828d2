"""System routes of the admin socket: status for the CLI, stop and restart."""

from __future__ import annotations

import os

from fastapi import Request

from handrail import __version__
from handrail.api.http import Router, services_of
from handrail.api.lifecycle import EXIT_RESTART, EXIT_STOP
from handrail.api.system.platform_facts import search_tools, usage

router = Router(tags=["admin"], prefix="/admin")


@router.get("/status")
async def status(request: Request) -> dict[str, object]:
    """Everything `handrail status` prints."""
    services = services_of(request)
    settings = services.settings
    return {
        "success": True,
        "version": __version__,
        "pid": os.getpid(),
        "form": settings.form,
        "address": f"http://{settings.host}:{settings.port}",
        "workdir": str(settings.workdir),
        "dataDir": str(settings.data_dir),
        "uptimeSeconds": round(services.clock.monotonic() - services.started, 1),
        "services": await services.health.parts(),
        "searchTools": search_tools(),
        "resourceUsage": usage(services.clock.monotonic() - services.started),
    }


@router.post("/shutdown")
async def shutdown(request: Request) -> dict[str, object]:
    """Stop the service."""
    services_of(request).lifecycle.request(EXIT_STOP)
    return {"success": True}


@router.post("/restart")
async def restart(request: Request) -> dict[str, object]:
    """Drain and start again."""
    services_of(request).lifecycle.request(EXIT_RESTART)
    return {"success": True}
