"""The log on the admin socket: everything, and whether it is whole."""

from __future__ import annotations

from fastapi import Request

from handrail.api.audit.query import DEFAULT_LIMIT, MAX_LIMIT, MAX_OFFSET, day_filter, whole
from handrail.api.http import Router, services_of

router = Router(tags=["admin"])


@router.get("/admin/logs")
async def logs(request: Request) -> dict[str, object]:
    """As GET /api/logs, over all users; each filter is a query parameter."""
    service, asked = services_of(request).audit.logs, request.query_params
    wanted = day_filter(asked.get("date") or service.today(), asked)
    limit = whole("limit", asked.get("limit"), DEFAULT_LIMIT, 1, MAX_LIMIT)
    page = await service.page(None, wanted, limit=limit, offset=whole("offset", asked.get("offset"), 0, 0, MAX_OFFSET))
    return {"success": True, "entries": page.entries, "total": page.total}


@router.get("/admin/logs/dates")
async def dates(request: Request) -> dict[str, object]:
    """Days with entries."""
    return {"success": True, "dates": await services_of(request).audit.logs.dates(None)}


@router.post("/admin/audit/verify")
async def verify(request: Request) -> dict[str, object]:
    """Walk the whole log: {ok, rows, writers, checkpoints, problems: [{kind, record, detail}]}."""
    report = await services_of(request).audit.verify()
    return {
        "success": True,
        "ok": report.ok,
        "rows": report.rows,
        "writers": report.writers,
        "checkpoints": report.checkpoints,
        "problems": [{"kind": p.kind, "record": p.record, "detail": p.detail} for p in report.problems],
        "more": report.more,
    }
