"""Facts about the machine that the status routes show."""

from __future__ import annotations

import os
import platform
import resource
import shutil
import socket
import sys
from functools import lru_cache
from pathlib import Path

from handrail.api.files.search.engine import find_rg

PLATFORM_NAMES = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}
ARCHES = {"x86_64": "x64", "aarch64": "arm64"}
KIB = 1024


@lru_cache(maxsize=1)
def static_facts() -> dict[str, object]:
    """Platform, architecture, runtime: never changes in a process."""
    machine = platform.machine()
    return {
        "platform": sys.platform,
        "platformName": PLATFORM_NAMES.get(sys.platform, sys.platform),
        "arch": ARCHES.get(machine, machine),
        # the wire's label for the runtime; clients only show it
        "nodeVersion": f"python-{platform.python_version()}",
    }


def search_tools() -> dict[str, bool]:
    """Which native search tools are on the PATH right now."""
    return {"fd": any(map(shutil.which, ("fd", "fdfind"))), "rg": find_rg() is not None}


def host_facts() -> dict[str, object]:
    """Host name, shell and home of the service."""
    return {"hostname": socket.gethostname(), "shell": "bash", "homeDir": str(Path.home())}


def usage(uptime_s: float) -> dict[str, object]:
    """Memory and CPU of this process: MB, seconds."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    rss = resident_bytes() / KIB / KIB
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / KIB / KIB
    return {
        "memoryUsedMB": round(rss, 1),
        "memoryTotalMB": round(total, 1),
        "memoryRssMB": round(rss, 1),
        "uptimeSeconds": round(uptime_s, 1),
        "cpuUser": round(own.ru_utime, 3),
        "cpuSystem": round(own.ru_stime, 3),
    }


def resident_bytes() -> int:
    """Resident memory of this process in bytes."""
    statm = Path("/proc/self/statm").read_text(encoding="ascii")
    return int(statm.split()[1]) * os.sysconf("SC_PAGE_SIZE")
