"""The embedded form as a user starts it: the installed `handrail` command, a free port, temporary directories."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.support.places import make_workdir, reachable_dir

HANDRAIL = Path(sys.executable).with_name("handrail")
OK = 200
READY_S = 90.0  # the first start makes a database; two slow cores
STOP_S = 15.0
STEP_S = 0.05


@dataclass(frozen=True)
class Running:
    """A started Handrail."""

    url: str
    data: Path
    workdir: Path
    pid: int

    def paircode(self) -> str:
        """A code that is good now."""
        answer = subprocess.run(
            [str(HANDRAIL), "paircode", "--data", str(self.data), "--json"], check=True, capture_output=True, text=True, env=environment()
        )
        return str(json.loads(answer.stdout)["code"])


def environment(**extra: str) -> dict[str, str]:
    """Ours without settings that belong to another Handrail."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith("HANDRAIL_") and name not in ("DATABASE_URL", "REDIS_URL")
    }
    return {**kept, **extra}


def free_port() -> int:
    """A port nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def running_handrail(**settings: str) -> Generator[Running]:
    """Start, wait for /readyz, stop. Raises RuntimeError with the end of its output when it does not come up."""
    with reachable_dir("hr-demo-") as base:
        port, data, workdir = free_port(), base / "data", make_workdir(base / "work")
        output = base / "output.log"
        argv = [str(HANDRAIL), "start", "--host", "127.0.0.1", "--port", str(port), "--workdir", str(workdir), "--data", str(data)]
        with output.open("wb") as sink:
            child = subprocess.Popen(
                argv, stdout=sink, stderr=sink, stdin=subprocess.DEVNULL, env=environment(**settings), start_new_session=True
            )
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(child, url, output)
            yield Running(url, data, workdir, child.pid)
        finally:
            child.send_signal(signal.SIGTERM)
            try:
                child.wait(STOP_S)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()


def _wait(child: subprocess.Popen[bytes], url: str, output: Path) -> None:
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        if child.poll() is not None:
            raise RuntimeError(f"handrail start ended with {child.returncode}:\n{output.read_text(errors='replace')[-3000:]}")
        with contextlib.suppress(httpx.HTTPError):
            if httpx.get(f"{url}/readyz", timeout=2, trust_env=False).status_code == OK:
                return
        time.sleep(STEP_S)
    raise RuntimeError(f"not ready within {READY_S:g} s:\n{output.read_text(errors='replace')[-3000:]}")
