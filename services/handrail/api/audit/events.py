"""What happened, as a value. The audit service redacts, chains and stores it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Category = Literal["auth", "fs", "exec", "security", "system"]
Level = Literal["info", "warn", "error"]


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """One audit record before it has an id. `details` must be JSON and never holds file content."""

    category: Category
    action: str
    level: Level = "info"
    user_id: str | None = None
    device_id: str | None = None
    workspace_id: str | None = None
    peer: str = ""
    request_id: str = ""
    tool: str = ""
    token_id: str = ""
    details: dict[str, object] = field(default_factory=dict[str, object])
