"""`/api/checkpoints*`: what file tools changed, turn by turn, and the way back."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request

from handrail.api.http import Router, actor_of, services_of
from handrail.api.tools.registry import Result
from handrail.api.undo import schemas as s
from handrail.api.undo.tools import CheckpointArgs, ListArgs, RewindArgs

router = Router(tags=["undo"])


@router.get("/api/checkpoints", response_model=s.CheckpointsAnswer)
async def checkpoints(
    request: Request, conversation: Annotated[str, Query(max_length=80)] = "", limit: Annotated[int, Query(ge=1, le=500)] = 100
) -> Result:
    """The caller's checkpoints in this workspace, the latest first: one for each turn in which a file tool changed something."""
    args = ListArgs(conversation=conversation, limit=limit)
    return await services_of(request).gate.call(actor_of(request), "CheckpointList", args)


@router.get("/api/checkpoints/{id}", response_model=s.PreviewAnswer, response_model_by_alias=True, response_model_exclude_none=True)
async def checkpoint(request: Request, id: str) -> Result:  # noqa: A002 - the path's name
    """What going back to before this turn would do, each step against what is there now, text as a unified diff."""
    return await services_of(request).gate.call(actor_of(request), "CheckpointPreview", CheckpointArgs(id=id[:200]))


@router.post("/api/checkpoints/{id}/rewind", response_model=s.RewindAnswer)
async def rewind(request: Request, id: str, body: s.RewindBody) -> Result:  # noqa: A002 - the path's name
    """Go back to before this turn. 409 with the list when something else has changed a place since, unless `force`.

    `fingerprint` of a preview: exactly what it showed, or nothing. What is overwritten or removed is a checkpoint of its own.
    """
    args = RewindArgs(id=id[:200], fingerprint=body.fingerprint, force=body.force)
    return await services_of(request).gate.call(actor_of(request), "Rewind", args)
