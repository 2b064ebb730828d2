"""Wire models of pairing, devices and the administrator's routes."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from handrail.api.http import WireBody

MAX_TEXT = 4096


class PairBody(WireBody):
    """`extensionId` is a label: it is the same in every browser, so it never identifies anything."""

    code: str = Field(default="", max_length=MAX_TEXT)
    extensionId: str = Field(default="", max_length=MAX_TEXT)  # noqa: N815 - the wire's name


class PairAnswer(BaseModel):
    """The token of the new device."""

    success: Literal[True]
    token: str = Field(description="64 hex digits; shown this once")
    message: str


class RenameBody(WireBody):
    """A new name."""

    name: str = Field(min_length=1, max_length=200)


class DeviceAnswer(BaseModel):
    """One of the user's devices."""

    id: str
    name: str
    origin: str
    createdAt: int = Field(description="ms since the epoch")  # noqa: N815
    lastSeen: int | None  # noqa: N815
    current: bool


class DevicesAnswer(BaseModel):
    """Devices, oldest first."""

    success: Literal[True]
    devices: list[DeviceAnswer]


class DoneAnswer(BaseModel):
    """It is done."""

    success: Literal[True]


class NameAnswer(BaseModel):
    """The name as it is kept."""

    success: Literal[True]
    name: str


class MeAnswer(BaseModel):
    """User, device and workspace behind a token."""

    success: Literal[True]
    user: dict[str, object]
    device: dict[str, object]
    workspace: dict[str, object]


class CodeBody(WireBody):
    """`display`: for a continuous display of codes, which pauses while somebody guesses."""

    user: str | None = Field(default=None, max_length=64)
    workspace: str | None = Field(default=None, max_length=64)
    display: bool = False


class UserBody(WireBody):
    """A new user."""

    name: str = Field(max_length=64)
    admin: bool = False
    auditor: bool = False


class UserNameBody(WireBody):
    """A user by name."""

    name: str = Field(max_length=64)


class WorkspaceBody(WireBody):
    """A new workspace; `root` is an absolute path."""

    name: str = Field(max_length=64)
    root: str = Field(max_length=MAX_TEXT)
    owner: str = Field(max_length=64)


class MemberBody(WireBody):
    """A member and a role."""

    workspace: str = Field(max_length=64)
    user: str = Field(max_length=64)
    role: Literal["owner", "member", "viewer", "auditor"] = "member"


class MemberNameBody(WireBody):
    """A member by name."""

    workspace: str = Field(max_length=64)
    user: str = Field(max_length=64)


class DeviceIdBody(WireBody):
    """A device by id."""

    id: str = Field(max_length=64)
