"""The command line's two conversations: the admin socket of a running instance, and its /readyz."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from urllib.parse import urlencode

from handrail.cli import options, pidfile, say
from handrail.cli.embedded.layout import run_dir_for
from handrail.cli.errors import NoAnswer, NotRunning, ServiceAnswered
from handrail.cli.settings import CliSettings
from handrail.contract.errors import ServiceUnavailable
from handrail.kit.canonical import StrictJsonError, loads
from handrail.kit.http import Answer, SyncClient, Target

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

    def call(self, method: str, path: str, body: dict[str, object] | None = None, timeout_s: float = TIMEOUT_S) -> dict[str, object]:
        """One request. Raises NotRunning, NoAnswer, ServiceAnswered (the service's own words)."""
        http = SyncClient(Target("api", socket=str(self.socket)))
        try:
            answer = http.call(method, path, body, headers={"Accept-Language": say.lang()}, timeout_s=timeout_s)
        except ServiceUnavailable as exc:
            if not self.socket.exists() and pidfile.running(self.data / "handrail.pid") is None:
                raise NotRunning(data=self.data) from exc
            raise NoAnswer(detail=type(exc.__cause__).__name__) from exc
        return _read(answer)

    def is_ready(self) -> bool:
        """Whether GET /readyz answers 200."""
        try:
            return SyncClient(Target("api", socket=str(self.socket))).call("GET", "/readyz", timeout_s=READY_TIMEOUT_S).status == OK
        except ServiceUnavailable:
            return False


def admin(data: str | None) -> Admin:
    """The instance that `--data` (or the environment) names."""
    settings = CliSettings.load()
    folder = options.data_dir(data, settings)
    if settings.admin_socket is not None and data is None:
        return Admin(settings.admin_socket, folder)
    owner = pidfile.running(folder / "handrail.pid")
    run = Path(owner.run) if owner is not None else Path(os.environ.get("HANDRAIL_RUN_DIR") or run_dir_for(folder))
    return Admin(run / "admin.sock", folder)


def _read(answer: Answer) -> dict[str, object]:
    try:
        value = loads(answer.body)
    except StrictJsonError as exc:
        raise NoAnswer(detail=f"HTTP {answer.status}") from exc
    if not isinstance(value, dict):
        raise NoAnswer(detail=f"HTTP {answer.status}")
    body = cast("dict[str, object]", value)
    if answer.status >= FIRST_ERROR:
        raise ServiceAnswered(error=body.get("error", f"HTTP {answer.status}"))
    return body
