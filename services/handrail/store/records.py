"""Rows as values: what the repositories return."""

from __future__ import annotations

from dataclasses import dataclass

from handrail.store.pool import DictRow


@dataclass(frozen=True, slots=True)
class WorkspaceRow:
    """A workspace without its members."""

    id: str
    name: str
    root: str
    allowed_paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IdentityRow:
    """A device with its user and the workspace that it works in."""

    device_id: str
    device_name: str
    origin: str
    user_id: str
    user_name: str
    is_admin: bool
    is_auditor: bool
    role: str
    workspace: WorkspaceRow


@dataclass(frozen=True, slots=True)
class UserRow:
    """A user without anything of theirs."""

    id: str
    name: str
    is_admin: bool
    is_auditor: bool


@dataclass(frozen=True, slots=True)
class MembershipRow:
    """A workspace that a user may work in, and as what."""

    workspace: WorkspaceRow
    role: str


@dataclass(frozen=True, slots=True)
class PairingRow:
    """A code that was just used up."""

    id: str
    user_id: str
    workspace_id: str
    code_hash: bytes


def workspace(row: DictRow, name: str = "name") -> WorkspaceRow:
    """From columns workspace_id, `name`, root, allowed_paths."""
    return WorkspaceRow(row["workspace_id"], row[name], row["root"], tuple(row["allowed_paths"]))


def user(row: DictRow) -> UserRow:
    """From columns user_id, name, is_admin, is_auditor."""
    return UserRow(row["user_id"], row["name"], row["is_admin"], row["is_auditor"])


def identity(row: DictRow) -> IdentityRow:
    """From the statement `identity`."""
    names = ("device_id", "device_name", "origin", "user_id", "user_name", "is_admin", "is_auditor", "role")
    return IdentityRow(**{name: row[name] for name in names}, workspace=workspace(row, "workspace_name"))
