"""The wire's bodies and answers of the file routes. Field names are the wire's."""
# ruff: noqa: N815, D101

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from handrail.api.http import WireBody

EntryKind = Literal["file", "directory", "unknown"]


class PathBody(WireBody):
    path: str


class ListBody(WireBody):
    path: str = "."


class WriteBody(WireBody):
    path: str
    content: str = ""
    encoding: Literal["utf-8", "base64"] = "utf-8"
    expectedVersion: Annotated[str, Field(max_length=120)] | None = None


class RenameBody(WireBody):
    path: str
    newName: str


class MoveBody(WireBody):
    path: str
    destDir: str


class RestoreBody(WireBody):
    trashId: str = ""


class SearchFilesBody(WireBody):
    path: str = "."
    pattern: str = "*"
    recursive: bool = True
    maxResults: int = 200


class SearchContentBody(WireBody):
    path: str = "."
    pattern: str
    filePattern: str | None = None
    caseSensitive: bool = False
    recursive: bool = True
    maxResults: int = 100
    contextLines: int = 2


class Answer(BaseModel):
    success: Literal[True]


class ReadAnswer(Answer):
    content: str
    size: int
    path: str
    encoding: str
    bom: bool
    lossy: bool
    binary: bool
    version: str


class WriteAnswer(Answer):
    size: int
    path: str
    encoding: str | None = None
    bom: bool | None = None
    version: str


class EntryInfo(BaseModel):
    name: str
    type: EntryKind
    size: int
    mtime: float
    isSymbolicLink: bool = False
    escapedName: bool = False


class ListAnswer(Answer):
    entries: list[EntryInfo]
    path: str


class StatInfo(BaseModel):
    name: str
    path: str
    type: Literal["file", "directory", "symlink", "unknown"]
    size: int
    mtime: float
    ctime: float
    atime: float
    mode: int
    permissions: str
    isDirectory: bool
    isFile: bool
    isSymbolicLink: bool
    uid: int
    gid: int
    mimeType: str | None = None
    linkTarget: str | None = None
    targetType: EntryKind | None = None
    targetProblem: str | None = None


class StatAnswer(Answer):
    info: StatInfo


class PathAnswer(Answer):
    path: str


class RenameAnswer(Answer):
    newPath: str
    newName: str


class MoveAnswer(Answer):
    newPath: str


class DeleteAnswer(Answer):
    path: str
    isDir: bool
    trashId: str
    message: str


class TrashEntry(BaseModel):
    id: str
    originalPath: str
    name: str
    size: int
    deletedAt: int
    isDir: bool
    deletedBy: str


class TrashAnswer(Answer):
    entries: list[TrashEntry]


class RestoreAnswer(Answer):
    restoredPath: str


class FoundEntry(BaseModel):
    path: str
    name: str
    type: EntryKind
    size: int
    mtime: float


class SearchFilesAnswer(Answer):
    results: list[FoundEntry]
    total: int
    engine: Literal["fallback"]
    path: str
    pattern: str
    truncated: bool
    timedOut: bool


class ContextLine(BaseModel):
    line: int
    content: str
    isMatch: bool


class FoundLine(BaseModel):
    file: str
    line: int
    content: str
    context: list[ContextLine] | None = None


class SearchContentAnswer(Answer):
    results: list[FoundLine]
    total: int
    engine: Literal["rg", "fallback"]
    path: str
    pattern: str
    truncated: bool
    timedOut: bool
