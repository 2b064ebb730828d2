"""Wire models of the system routes."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from handrail.api.http import WireBody

# ruff: noqa: N815 - field names are the wire's


class StatusAnswer(BaseModel):
    """Answer of GET /api/status."""

    success: Literal[True]
    version: str
    running: Literal[True]
    platform: str
    platformName: str
    arch: str
    nodeVersion: str
    searchTools: dict[str, bool]
    ragAvailable: bool


class RunningProcess(BaseModel, extra="allow"):
    """One running command; times in ms."""

    execId: str
    pid: int
    command: str
    startTime: int
    duration: int


class DetailAnswer(BaseModel, extra="allow"):
    """Answer of GET /api/status/detail."""

    success: Literal[True]
    version: str
    pairCodeTTL: int
    workdir: str
    allowedPaths: list[str]
    commandTimeout: int
    fileMaxSize: int
    uploadMaxSize: int
    runningProcesses: list[RunningProcess]
    resourceUsage: dict[str, float]


class HeartbeatAnswer(BaseModel):
    """`time` in ms since the epoch."""

    success: Literal[True]
    time: int


class MessageAnswer(BaseModel):
    """A sentence in the caller's language."""

    success: bool
    message: str


class UpdateAnswer(BaseModel):
    """How to update; nothing was done."""

    success: bool
    error: str
    current: str
    howTo: list[str]


class WorkdirBody(WireBody):
    """An absolute directory; `~` is expanded."""

    workdir: str = Field(min_length=1, max_length=4096)


class PathBody(WireBody):
    """An absolute directory."""

    path: str = Field(min_length=1, max_length=4096)


class WorkdirAnswer(BaseModel):
    """The workspace's directories now."""

    success: Literal[True]
    workdir: str
    allowedPaths: list[str]
    message: str


class AllowedPathsAnswer(BaseModel):
    """The directories that are allowed now."""

    success: Literal[True]
    allowedPaths: list[str]
    message: str


class HealthAnswer(BaseModel):
    """Answer of GET /healthz."""

    status: str


class ReadyAnswer(BaseModel):
    """State by part."""

    status: Literal["ready", "not ready"]
    parts: dict[str, str]


class RootInfo(BaseModel):
    """An allowed directory; device, inode and mount are absent when it cannot be opened."""

    path: str
    kind: Literal["work", "extra"]
    state: Literal["active", "changed", "missing"]
    device: int | None = None
    inode: int | None = None
    mount: int | None = None


class RootsAnswer(BaseModel):
    """Answer of GET /api/roots and POST /api/roots/confirm."""

    success: Literal[True]
    roots: list[RootInfo]
