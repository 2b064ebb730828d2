"""Settings of the sandbox service."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from handrail.contract.settings import Settings

MIB = 1024 * 1024


class SandboxSettings(Settings):
    """Environment of `python -m handrail.sandbox`."""

    sandbox_socket: Path = Field(default_factory=lambda data: data["run_dir"] / "sandbox.sock")
    sandbox_network: Literal["off", "on"] = "off"
    command_timeout: int = Field(default=300_000, ge=1000, le=86_400_000)  # ms
    sandbox_commands: int = Field(default=32, ge=1, le=1024)  # at once, for each user
    sandbox_ring: int = Field(default=16 * MIB, ge=64 * 1024, le=1024 * MIB)  # bytes of output kept for each command
    sandbox_processes: int = Field(default=512, ge=16)  # for each user of the machine, beyond what ran already
    sandbox_process_memory: int = Field(default=0, ge=0)  # MiB of one process; 0 = three quarters of the machine's
    sandbox_file_size: int = Field(default=4096, ge=1)  # MiB of one file
