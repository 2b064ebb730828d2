"""Drives one compose project: start it, look into its containers, kill them, collect what they said."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.wait import until

ROOT = Path(__file__).resolve().parents[2]
LONG_LIVED = ("db", "broker", "api", "worker", "beat", "sandbox")
ONE_SHOTS = ("keys", "init")
RUN_AS_USER = ("api", "worker", "beat", "sandbox")
OWN_VARIABLES = ("HANDRAIL_", "COMPOSE_", "DATABASE_URL", "REDIS_URL", "WORKDIR")


@dataclass(frozen=True, slots=True)
class Ran:
    """A finished command."""

    code: int
    out: str
    err: str


def run(argv: list[str], *, timeout_s: float = 60, stdin: str = "", env: dict[str, str] | None = None) -> Ran:
    """Run a command of the host to its end. Raises subprocess.TimeoutExpired."""
    done = subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=timeout_s, env=env, cwd=ROOT, check=False)
    return Ran(done.returncode, done.stdout, done.stderr)


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody listens on at the moment."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


@dataclass(frozen=True, slots=True)
class Stack:
    """One compose project. `settings` are the variables a user would put into `.env`."""

    project: str
    settings: dict[str, str]

    @property
    def port(self) -> int:
        return int(self.settings["HANDRAIL_PUBLISH_PORT"])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def with_settings(self, **more: str) -> Stack:
        """The same project with other settings; `up` applies them."""
        return Stack(self.project, self.settings | more)

    def compose(self, *args: str, timeout_s: float = 120, stdin: str = "") -> Ran:
        """`docker compose ARGS` as on a clean clone: no .env, none of the caller's own HANDRAIL_ variables."""
        env = {name: value for name, value in os.environ.items() if not name.startswith(OWN_VARIABLES)} | self.settings
        argv = ["docker", "compose", "--project-name", self.project, "--env-file", os.devnull, *args]
        return run(argv, timeout_s=timeout_s, stdin=stdin, env=env)

    def up(self) -> None:
        """`docker compose up -d --wait`; fails with the logs of all containers."""
        done = self.compose("up", "-d", "--wait", "--wait-timeout", "180", timeout_s=240)
        assert done.code == 0, f"up failed ({done.code}): {done.err[-3000:]}\n{self.logs()}"

    def logs(self, *services: str, tail: int = 60) -> str:
        return self.compose("logs", "--no-color", "--timestamps", "--tail", str(tail), *services).out

    def id(self, service: str) -> str:
        """Id of the service's container, running or not. One-off containers of `compose run` are not meant."""
        labels = {"project": self.project, "service": service, "oneoff": "False"}
        filters = [part for name, value in labels.items() for part in ("--filter", f"label=com.docker.compose.{name}={value}")]
        return run(["docker", "ps", "--all", "--quiet", *filters]).out.strip()

    def inspect(self, service: str) -> dict[str, Any]:
        return json.loads(run(["docker", "inspect", self.id(service)]).out)[0]

    def sh(self, service: str, script: str, *, timeout_s: float = 60) -> Ran:
        """Run a bash script inside the service's container, as its own user."""
        return run(["docker", "exec", "-i", self.id(service), "bash", "-s"], stdin=script, timeout_s=timeout_s)

    def python(self, service: str, script: Path, *args: str) -> Any:
        """Run a Python file inside the container, with the service's own packages; its standard output is JSON."""
        argv = ["docker", "exec", "-i", self.id(service), "/opt/handrail/bin/python", "-", *args]
        done = run(argv, stdin=script.read_text("utf-8"))
        assert done.code == 0, f"{script.name} in {service}: {done.err[-2000:]}"
        return json.loads(done.out)

    def is_healthy(self, service: str) -> bool:
        state = self.inspect(service)["State"]
        return bool(state["Running"]) and state.get("Health", {}).get("Status") == "healthy"

    def kill(self, service: str) -> None:
        """SIGKILL the container's first process from outside and wait until the engine has started it again and it is healthy.

        `docker kill` would count as "stopped by hand" and switch the restart policy off, so the signal comes from a container
        that sees the host's processes: as when the kernel kills for want of memory.
        """
        before = self.inspect(service)
        helper = ["docker", "run", "--rm", "--pid=host", "--network=none", "--user=0", "--cap-drop=ALL", "--cap-add=KILL"]
        done = run([*helper, "debian:trixie-slim", "bash", "-c", f"kill -KILL {before['State']['Pid']}"])
        assert done.code == 0, done.err
        until(lambda: self.inspect(service)["RestartCount"] > before["RestartCount"], f"{service} is started again", 30)
        until(lambda: self.is_healthy(service), f"{service} is healthy again", 60)

    def leftovers(self) -> dict[str, list[str]]:
        """What the engine still has of this project."""
        label = f"label=com.docker.compose.project={self.project}"
        kinds = {"container": ["-a"], "volume": [], "network": []}
        found = {kind: run(["docker", kind, "ls", "-q", *more, "--filter", label]).out.split() for kind, more in kinds.items()}
        return {kind: names for kind, names in found.items() if names}
