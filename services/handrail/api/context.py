"""Who asks: the values that every handler and every gate decision is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from handrail.contract.errors import Lang

Role = Literal["owner", "member", "viewer", "auditor"]
Surface = Literal["http", "admin", "system"]


@dataclass(frozen=True, slots=True)
class Workspace:
    """One root directory and what belongs to it. Paths are absolute and real."""

    id: str
    name: str
    root: str
    allowed_paths: tuple[str, ...] = ()  # extra directories, read-write


@dataclass(frozen=True, slots=True)
class Identity:
    """A device token that was looked up: whose it is and where it works. Cached, so it holds nothing of one request."""

    user_id: str
    user_name: str
    is_admin: bool
    device_id: str
    device_name: str
    role: Role
    workspace: Workspace
    origin: str = ""  # extension origin the device was paired from; another extension cannot use its token


@dataclass(frozen=True, slots=True)
class Actor:
    """An identity in one request."""

    identity: Identity
    lang: Lang
    request_id: str
    peer: str  # address of the peer socket, never a header
    surface: Surface = "http"
    conversation: str = ""  # what the client groups its calls by, as it says (`X-Handrail-Conversation`, `X-Handrail-Turn`)
    turn: str = ""

    @property
    def user_id(self) -> str:
        return self.identity.user_id

    @property
    def workspace(self) -> Workspace:
        return self.identity.workspace
