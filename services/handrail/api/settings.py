"""Settings of the api service."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from handrail.contract.settings import CommaList, Settings

MIB = 1024 * 1024


class ApiSettings(Settings):
    """Environment of `python -m handrail.api`. Sizes are bytes, limits are requests a minute (0 = no limit)."""

    workdir: Path
    host: str = "127.0.0.1"
    port: int = Field(default=18910, ge=1, le=65535)
    allowed_hosts: CommaList = ()
    pair_code_ttl: int = Field(default=30, ge=5, le=600)  # seconds
    command_timeout: int = Field(default=300_000, ge=1000, le=86_400_000)  # ms
    file_max_size: int = Field(default=50 * MIB, ge=1)
    upload_max_size: int = Field(default=200 * MIB, ge=1)
    upload_quota: int = Field(default=1024 * MIB, ge=1)
    body_max_size: int = Field(default=80 * MIB, ge=1024)
    confirm: Literal["policy", "human"] = "policy"
    sandbox_socket: Path = Field(default_factory=lambda data: data["run_dir"] / "sandbox.sock")
    admin_socket: Path = Field(default_factory=lambda data: data["run_dir"] / "admin.sock")
    rate_limit: int = Field(default=60_000, ge=0)  # of one device
    anonymous_rate_limit: int = Field(default=1200, ge=0)  # of one peer without a token
    failure_rate_limit: int = Field(default=60, ge=0)  # failed authentications of one peer
