"""What the command line and the supervisor read from the environment. None = not set there."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from handrail.contract.settings import CommaList, Settings


class CliSettings(Settings):
    """Environment of `handrail`. It beats config.json and is beaten by options."""

    workdir: Path | None = None
    host: str | None = None
    port: int | None = Field(default=None, ge=1, le=65535)
    allow_remote: bool = False
    allowed_hosts: CommaList = ()
    allowed_paths: CommaList | None = None
    pair_code_ttl: int | None = None
    command_timeout: int | None = None
    file_max_size: int | None = None
    confirm: Literal["policy", "human"] = "policy"
    admin_socket: Path | None = None
