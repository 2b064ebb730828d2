"""Bodies and answers of the undo routes."""
# ruff: noqa: N815, D101

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from handrail.api.files.schemas import Answer
from handrail.api.http import WireBody

Action = Literal["restore", "remove", "remove_directory", "move_back", "untrash", "lost"]


class RewindBody(WireBody):
    fingerprint: str = Field(default="", max_length=64)
    force: bool = False


class ChangedPlace(BaseModel):
    path: str
    change: Literal["created", "modified", "directory", "moved", "deleted", "unknown"]
    to: str


class Checkpoint(BaseModel):
    id: str
    seq: int
    conversation: str
    turn: str
    kind: Literal["turn", "rewind"]
    createdAt: int
    expiresAt: int
    tools: list[str]
    complete: bool
    count: int
    files: list[ChangedPlace]


class CheckpointsAnswer(Answer):
    checkpoints: list[Checkpoint]


class PreviewStep(BaseModel):
    action: Action
    path: str
    done: bool
    problem: Literal["", "changed", "missing", "taken", "expired", "gap", "between"]
    from_: str | None = Field(default=None, alias="from")
    diff: str | None = None


class PreviewAnswer(Answer):
    id: str
    steps: list[PreviewStep]
    conflicts: int
    fingerprint: str


class DoneStep(BaseModel):
    action: Action
    path: str


class LeftStep(DoneStep):
    problem: str


class RewindAnswer(Answer):
    id: str
    done: list[DoneStep]
    left: list[LeftStep]
    turn: str
    conversation: str
