"""Variables that only compose.yaml reads: what they mean. The names come from the file, the words from here."""

from __future__ import annotations

import re
from pathlib import Path

from handrail.contract.setting_names import BY_NAME

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = re.compile(r"\$\{([A-Z_]+)(?::?-([^}]*))?")

MEANINGS = {
    "WORKDIR": "Absolute path of the work root on the host, mounted at the same path; unset: a named volume at /work.",
    "HANDRAIL_UID": "Uid that the services which work on your files run as, so that what they write is yours.",
    "HANDRAIL_GID": "Gid that goes with HANDRAIL_UID.",
    "HANDRAIL_PUBLISH_PORT": "Port on the host's 127.0.0.1.",
    "HANDRAIL_SANDBOX_IMAGE": "Image of the sandbox; build your own from handrail-sandbox to add tools.",
    "HANDRAIL_SANDBOX_PIDS": "Processes and threads in the sandbox, all commands together.",
    "HANDRAIL_SANDBOX_MEMORY": "Memory of the sandbox, all commands together.",
    "HANDRAIL_SANDBOX_CPU_PERCENT": "CPU of the sandbox in percent of one core.",
    "HANDRAIL_API_MEMORY": "Memory of the api container.",
    "HANDRAIL_WORKER_MEMORY": "Memory of the worker container.",
    "HANDRAIL_DB_MEMORY": "Memory of the db container.",
}


def compose_variables() -> dict[str, str]:
    """Name -> default of every variable that compose.yaml takes from the environment or `.env`."""
    found: dict[str, str] = {}
    for name, default in REFERENCE.findall((ROOT / "compose.yaml").read_text("utf-8")):
        if default or name not in found:
            found[name] = default
    return found


def compose_only() -> dict[str, tuple[str, str]]:
    """Name -> (default, meaning) of those that no service reads. Raises KeyError for one without a meaning."""
    return {name: (default, MEANINGS[name]) for name, default in sorted(compose_variables().items()) if name not in BY_NAME}
