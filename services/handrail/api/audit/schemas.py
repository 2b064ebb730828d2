"""Wire models of the log routes."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from handrail.api.http import WireBody


class QueryBody(WireBody):
    """As the extension sends it. A limit beyond 500 is cut to 500."""

    category: str | None = Field(default=None, max_length=64)
    limit: int = Field(default=200, ge=1, le=1_000_000)


class EntryAnswer(BaseModel):
    """One record; its details stand beside these."""

    model_config = ConfigDict(extra="allow")
    id: str
    timestamp: str
    level: Literal["info", "warn", "error"]
    category: Literal["auth", "fs", "exec", "security", "system"]
    action: str


class PageAnswer(BaseModel):
    """A page of the log."""

    success: Literal[True]
    entries: list[EntryAnswer] = Field(description="newest first")
    total: int


class QueryAnswer(PageAnswer):
    """The newest entries and the days that have some."""

    dates: list[str] = Field(description="UTC days with entries, at most 7, newest first")


class DatesAnswer(BaseModel):
    """Days."""

    success: Literal[True]
    dates: list[str]
