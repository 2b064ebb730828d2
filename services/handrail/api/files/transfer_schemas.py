"""The wire's bodies and answers of the transfer routes. Field names are the wire's."""
# ruff: noqa: N815, D101

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from handrail.api.files.schemas import Answer
from handrail.api.http import WireBody


class StreamBody(WireBody):
    path: str | None = None
    paths: list[str] | None = None


class DownloadBody(WireBody):
    path: str


class DownloadMultiBody(WireBody):
    paths: list[str]


class PreviewBody(WireBody):
    path: str
    maxRows: int = Field(default=2001, ge=1, le=2001)


class DownloadAnswer(Answer):
    type: Literal["file", "directory", "archive"]
    name: str
    size: int
    content: str
    mimeType: str


class UploadAnswer(Answer):
    size: int
    path: str
    complete: bool
    created: bool | None = None
    sha256: str | None = None
    offset: int | None = None


class UploadStatusAnswer(Answer):
    uploadId: str
    path: str
    offset: int
    total: int
    sha256: str
    expiresAt: int


class UploadDropAnswer(Answer):
    uploadId: str


class StageAnswer(Answer):
    path: str
    name: str
    size: int
    sha256: str


class MergedCells(BaseModel):
    row: int
    column: int
    rowSpan: int
    colSpan: int


class Sheet(BaseModel):
    name: str
    index: int
    colCount: int
    totalRows: int
    rows: list[list[str]]
    merged: list[MergedCells]
    truncated: bool


class Sheets(BaseModel):
    sheets: list[Sheet]


class PreviewAnswer(Answer):
    data: Sheets


class OpenAnswer(Answer):
    path: str
    platform: str
