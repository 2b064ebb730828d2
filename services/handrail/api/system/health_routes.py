"""Liveness and readiness. Public; they name parts, never secrets."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from handrail.api.http import JsonAnswer, Router, services_of
from handrail.api.system.schemas import HealthAnswer, ReadyAnswer

router = Router(tags=["system"])


@router.get("/healthz", response_model=HealthAnswer)
async def healthz(request: Request) -> dict[str, str]:
    """This process answers."""
    return {"status": "ok"}


@router.get("/readyz", response_model=ReadyAnswer)
async def readyz(request: Request) -> Response:
    """200 when the database (at the expected migration), the broker, the audit log and the sandbox all answer; else 503."""
    services = services_of(request)
    parts = await services.health.parts()
    ready = not services.lifecycle.stopping and all(state == "ok" for name, state in parts.items() if name in services.health.REQUIRED)
    return JsonAnswer({"status": "ready" if ready else "not ready", "parts": parts}, status_code=200 if ready else 503)
