"""The command line's two conversations: the admin socket of a running instance, and its /readyz."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from urllib.parse import quote, urlencode

import httpcore
import orjson

from handrail.cli import options, pidfile, say
from handrail.cli.embedded.layout import run_dir_for
from handrail.cli.errors import NoAnswer, NotRunning, ServiceAnswered
from handrail.cli.settings import CliSettings
from handrail.kit.canonical import StrictJsonError, loads

TIMEOUT_S = 15.0
READY_TIMEOUT_S = 2.0
OK = 200
FIRST_ERROR = 400


@dataclass(frozen=True, slots=True)
class Admin:
    """The admin socket of one instance; being allowed to open it is the credential."""

    socket: Path
    data: Path

    def get(self, path: str, **query: object) -> dict[str, object]:
        """GET with the query fields that are not None. Raises NotRunning, NoAnswer, ServiceAnswered."""
        fields = {name: str(value) for name, value in query.items() if value is not None}
        return self.call("GET", path + ("?" + urlencode(fields) if fields else ""))

    def post(self, path: str, **body: object) -> dict[str, object]:
        return self.call("POST", path, {name: value for name, value in body.items() if value is not None})

    def delete(self, path: str) -> dict[str, object]:
        return self.call("DELETE", path)

    def call(self, method: str, path: str, body: dict[str, object] | None = None, timeout_s: float = TIMEOUT_S) -> dict[str, object]:
        """One request. Raises NotRunning, NoAnswer, ServiceAnswered (the service's own words)."""
        headers = [("Host", "localhost"), ("Accept-Language", say.lang()), ("Content-Type", "application/json")]
        limits = {"timeout": {"connect": 2.0, "read": timeout_s, "write": timeout_s, "pool": 1.0}}
        try:
            with httpcore.ConnectionPool(uds=str(self.socket)) as pool:
                answer = pool.request(
                    method, "http://localhost" + path, headers=headers, content=orjson.dumps(body or {}), extensions=limits
                )
        except (httpcore.ConnectError, FileNotFoundError) as exc:
            if pidfile.running(self.data / "handrail.pid") is None:
                raise NotRunning(data=self.data) from exc
            raise NoAnswer(detail=str(exc)) from exc
        except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, OSError) as exc:
            raise NoAnswer(detail=str(exc) or type(exc).__name__) from exc
        return _read(answer.status, answer.content)


def admin(data: str | None) -> Admin:
    """The instance that `--data` (or the environment) names."""
    settings = CliSettings.load()
    folder = options.data_dir(data, settings)
    if settings.admin_socket is not None and data is None:
        return Admin(settings.admin_socket, folder)
    owner = pidfile.running(folder / "handrail.pid")
    run = Path(owner.run) if owner is not None else Path(os.environ.get("HANDRAIL_RUN_DIR") or run_dir_for(folder))
    return Admin(run / "admin.sock", folder)


def is_ready(address: str) -> bool:
    """Whether GET /readyz answers 200."""
    limits = {"timeout": {"connect": 1.0, "read": READY_TIMEOUT_S, "write": 1.0, "pool": 1.0}}
    try:
        with httpcore.ConnectionPool() as pool:
            return pool.request("GET", address + "/readyz", extensions=limits).status == OK
    except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, OSError):
        return False


def segment(text: str) -> str:
    """A name as one segment of a URL path."""
    return quote(text, safe="")


def _read(status: int, content: bytes) -> dict[str, object]:
    try:
        value = loads(content)
    except StrictJsonError as exc:
        raise NoAnswer(detail=f"HTTP {status}") from exc
    if not isinstance(value, dict):
        raise NoAnswer(detail=f"HTTP {status}")
    body = cast("dict[str, object]", value)
    if status >= FIRST_ERROR:
        raise ServiceAnswered(error=body.get("error", f"HTTP {status}"))
    return body
