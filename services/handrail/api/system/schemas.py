"""Wire models of the system routes."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from handrail.api.http import WireBody

# ruff: noqa: N815 - field names are the wire's


class StatusAnswer(BaseModel):
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
    execId: str
    pid: int
    command: str
    startTime: int
    duration: int


class DetailAnswer(BaseModel, extra="allow"):
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
    success: Literal[True]
    time: int


class MessageAnswer(BaseModel):
    success: bool
    message: str


class UpdateAnswer(BaseModel):
    success: bool
    error: str
    current: str
    howTo: list[str]


class WorkdirBody(WireBody):
    workdir: str = Field(min_length=1, max_length=4096)


class PathBody(WireBody):
    path: str = Field(min_length=1, max_length=4096)


class WorkdirAnswer(BaseModel):
    success: Literal[True]
    workdir: str
    allowedPaths: list[str]
    message: str


class AllowedPathsAnswer(BaseModel):
    success: Literal[True]
    allowedPaths: list[str]
    message: str


class HealthAnswer(BaseModel):
    status: str


class ReadyAnswer(BaseModel):
    status: Literal["ready", "not ready"]
    parts: dict[str, str]
