"""A real sandbox service of a test's own, with its own keys, and a client that mints any token it likes."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import secrets
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from handrail.contract import sandbox as wire
from handrail.jail import spawn
from handrail.kit.canonical import sha256
from handrail.kit.http import Answer, SyncClient, Target
from tests.support.places import account, make_workdir, reachable_dir
from tests.support.wait import until

KID = "test-key"


class Box:
    """One sandbox service. Call it with `run`, `output`, `stop`, `list`; `start` and `kill` for restarts."""

    def __init__(self, base: Path, env: dict[str, str] | None = None) -> None:
        self.base = base
        self.data = base / "data"
        self.work = base / "work"
        self.key = Ed25519PrivateKey.generate()
        self._env = env or {}
        make_workdir(self.work)
        for name in ("", "run", "secrets", "logs"):
            make_workdir(self.data / name).chmod(0o700)
        public = base64.b64encode(self.key.public_key().public_bytes_raw()).decode()
        self.own_file(self.data / "secrets" / "public.json", json.dumps({KID: public}))
        self.socket = self.data / "run" / "sandbox.sock"
        self.log = base / "sandbox.log"
        self.process: spawn.Child | None = None

    def own_file(self, path: Path, text: str, mode: int = 0o600) -> Path:
        """A file that belongs to the services' account."""
        path.write_text(text)
        path.chmod(mode)
        who = account()
        if who is not None:
            os.chown(path, who.uid, who.gid)
        return path

    def start(self) -> None:
        env = {
            "HANDRAIL_DATA_DIR": str(self.data),
            "HANDRAIL_SECRETS_DIR": str(self.data / "secrets"),
            "PATH": f"{os.environ['PATH']}",
            "HOME": str(self.data),
            "SECRET_OF_THE_SERVICE": "planted-secret",
            "SSH_AUTH_SOCK": "/tmp/agent",
            "LD_LIBRARY_PATH": "/tmp/libs",
            "PYTHONPATH": "/tmp/python",
            **self._env,
        }
        log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            self.process = spawn.start([sys.executable, "-P", "-m", "handrail.sandbox"], env=env, log=log, account=account(), cwd="/")
        finally:
            os.close(log)
        self.client = SyncClient(Target("sandbox", socket=str(self.socket)))
        until(self.healthy, f"the sandbox answers; its log: {self.log.read_text()}", 20)

    def healthy(self) -> bool:
        if self.process is None or self.process.poll() is not None:
            raise AssertionError(f"the sandbox ended: {self.log.read_text()}")
        try:
            return self.client.call("GET", wire.PATH_HEALTH, timeout_s=2).status == 200
        except Exception:  # noqa: BLE001 - not there yet
            return False

    def end(self, grace_s: float = 8.0) -> int:
        """SIGTERM; the exit code."""
        assert self.process is not None
        return self.process.stop(grace_s)

    def kill(self, signum: int) -> None:
        assert self.process is not None
        self.process.signal(signum)

    # calls

    def token(
        self,
        tool: str,
        arguments: dict[str, Any],
        /,
        *,
        key: Ed25519PrivateKey | None = None,
        headers: dict[str, Any] | None = None,
        **claims: Any,
    ) -> str:
        """A token for exactly these arguments; every claim can be overridden."""
        now = int(time.time())
        tier = claims.get("tier", "high")
        content = {
            "iss": "handrail-api",
            "aud": "sandbox",
            "sub": "user-1",
            "ws": "ws-1",
            "device": "device-1",
            "tool": tool,
            "tier": tier,
            "args": sha256(arguments),
            "trigger": "user_request",
            "policy": "0",
            "approval": "approved-in-test",  # what policy asks about is another test's matter
            "jti": secrets.token_hex(16),
            "iat": now,
            "exp": now + (30 if tier == "high" else 60),
        } | claims
        return jwt.encode(content, key or self.key, algorithm="EdDSA", headers={"kid": KID} | (headers or {}))

    def arguments(self, command: str, **more: Any) -> dict[str, Any]:
        return {
            "command": command,
            "cwd": str(self.work),
            "root": str(self.work),
            "extra_roots": [],
            "timeout_ms": 30_000,
            "wait": True,
        } | more

    def post(self, path: str, body: dict[str, Any], timeout_s: float = 60.0) -> Answer:
        return self.client.call("POST", path, body, timeout_s=timeout_s)

    def try_run(self, command: str, *, claims: dict[str, Any] | None = None, **more: Any) -> Answer:
        arguments = self.arguments(command, **more)
        return self.post(wire.PATH_RUN, {"token": self.token("Bash", arguments, **(claims or {})), "arguments": arguments})

    def run(self, command: str, *, claims: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        answer = self.try_run(command, claims=claims, **more)
        assert answer.status == 200, answer.body
        return answer.json()

    def attack(self, text: str, **more: Any) -> dict[str, Any]:
        """Run `text` as a script file: what the jail must hold alone, because the policy does not read scripts."""
        script = self.own_file(self.work / f".attack-{secrets.token_hex(4)}.sh", text + "\n", 0o644)
        try:
            return self.run(f"bash {script}", **more)
        finally:
            script.unlink()

    def output(self, exec_id: str, cursor: int = 0, wait_ms: int = 0, **claims: Any) -> Answer:
        arguments = {"exec_id": exec_id}
        token = self.token("ProcessRead", arguments, tier="low", **claims)
        return self.post(wire.PATH_READ, {"token": token, "arguments": arguments, "cursor": cursor, "wait_ms": wait_ms})

    def read_all(self, exec_id: str, **claims: Any) -> tuple[dict[str, Any], list[tuple[int, str]]]:
        """Every page to the end; the last answer and all pieces."""
        cursor, pieces = 0, []
        while True:
            page = self.output(exec_id, cursor, 10_000, **claims).json()
            pieces += [tuple(piece) for piece in page["pieces"]]
            cursor = page["next"]
            if page["exit_code"] is not None and not page["has_more"]:
                return page, pieces

    def stop(self, exec_id: str, **claims: Any) -> Answer:
        arguments = {"exec_id": exec_id}
        return self.post(wire.PATH_STOP, {"token": self.token("ProcessStop", arguments, **claims), "arguments": arguments})

    def list(self, **claims: Any) -> list[dict[str, Any]]:
        answer = self.post(wire.PATH_LIST, {"token": self.token("ProcessList", {}, tier="low", **claims), "arguments": {}})
        assert answer.status == 200, answer.body
        return answer.json()["processes"]


@contextlib.contextmanager
def running_box(**env: str) -> Generator[Box]:
    """A started sandbox; at the end it is stopped and its directories are gone."""
    with reachable_dir() as base:
        box = Box(base, env)
        try:
            box.start()
            yield box
        finally:
            if box.process is not None and box.process.poll() is None:
                box.end()
