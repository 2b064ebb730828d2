"""The log over the wire: both families."""

from __future__ import annotations

from fastapi import Request

from handrail.api.audit.query import DEFAULT_LIMIT, MAX_LIMIT, MAX_OFFSET, SHOWN_DAYS, any_day, day_filter, whole
from handrail.api.audit.schemas import DatesAnswer, PageAnswer, QueryAnswer, QueryBody
from handrail.api.http import Router, actor_of, services_of

router = Router(tags=["audit"])


def _parameter(name: str, description: str) -> dict[str, object]:
    return {"name": name, "in": "query", "required": False, "schema": {"type": "string"}, "description": description}


PARAMETERS = [
    _parameter("date", "UTC day YYYY-MM-DD; today when absent"),
    _parameter("category", "auth, fs, exec, security or system"),
    _parameter("level", "info, warn or error"),
    _parameter("tool", "name of a tool"),
    _parameter("text", "part of the action or the details"),
    _parameter("limit", "1 to 500, default 200"),
    _parameter("offset", "entries to skip, default 0"),
]


@router.post("/api/logs/query", response_model=QueryAnswer)
async def query(request: Request, body: QueryBody) -> dict[str, object]:
    """The newest entries of all days."""
    logs, actor = services_of(request).audit.logs, actor_of(request)
    page = await logs.page(actor, any_day(body.category), limit=min(body.limit, MAX_LIMIT))
    dates = await logs.dates(actor, SHOWN_DAYS)
    return {"success": True, "entries": page.entries, "total": page.total, "dates": dates}


@router.get("/api/logs", response_model=PageAnswer, openapi_extra={"parameters": PARAMETERS})
async def day(request: Request) -> dict[str, object]:
    """The entries of one UTC day, newest first."""
    logs, asked = services_of(request).audit.logs, request.query_params
    wanted = day_filter(asked.get("date") or logs.today(), asked)
    limit = whole("limit", asked.get("limit"), DEFAULT_LIMIT, 1, MAX_LIMIT)
    page = await logs.page(actor_of(request), wanted, limit=limit, offset=whole("offset", asked.get("offset"), 0, 0, MAX_OFFSET))
    return {"success": True, "entries": page.entries, "total": page.total}


@router.get("/api/logs/dates", response_model=DatesAnswer)
async def dates(request: Request) -> dict[str, object]:
    """The UTC days of the last 30 that have entries, newest first."""
    return {"success": True, "dates": await services_of(request).audit.logs.dates(actor_of(request))}
