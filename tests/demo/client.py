"""A small client of the wire: what an assistant's own client does, over HTTP and WebSocket only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Self

import httpx
from websockets.sync.client import connect

OK = 200
TIMEOUT_S = 60.0
OUTPUT_PATIENCE_S = 60.0


class WireError(Exception):
    """An answer that is not a success. `status` and `body` are what came."""

    def __init__(self, method: str, path: str, status: int, body: Any) -> None:
        self.status = status
        self.body = body
        super().__init__(f"{method} {path} -> {status}: {body}")


class Client:
    """Speaks to one Handrail at `url`. `pair` first, or pass a token."""

    def __init__(self, url: str, token: str = "") -> None:
        self.url = url.rstrip("/")
        self._http = httpx.Client(base_url=self.url, timeout=TIMEOUT_S, trust_env=False)
        self.token = token

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def pair(self, code: str, name: str) -> None:
        """Trade a 6-digit code for this device's token."""
        self.token = self.post("/api/pair", code=code, extensionId=name)["token"]

    def get(self, path: str, **query: object) -> dict[str, Any]:
        """GET, JSON out. Raises WireError."""
        return self._ask("GET", path, params={name: str(value) for name, value in query.items()})

    def post(self, path: str, /, **body: object) -> dict[str, Any]:
        """POST a JSON body. Raises WireError."""
        return self._ask("POST", path, json=body)

    def run(self, command: str, cwd: str) -> dict[str, Any]:
        """Run a command to its end."""
        return self.post("/api/exec", command=command, cwd=cwd, wait=True)

    def stream(self, command: str, cwd: str) -> Iterator[dict[str, Any]]:
        """Run a command and yield its frames as they come; the last one is `exit` or `error`."""
        started = self.post("/api/exec", command=command, cwd=cwd)
        with connect(started["wsUrl"], additional_headers={"Authorization": f"Bearer {self.token}"}, proxy=None) as socket:
            while True:
                frame = json.loads(socket.recv(timeout=OUTPUT_PATIENCE_S))
                yield frame
                if frame["type"] in ("exit", "error"):
                    return

    def raw(self, method: str, path: str, /, **body: object) -> httpx.Response:
        """The answer as it is, whatever it is."""
        return self._http.request(method, path, headers=self._headers(), json=body)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def _ask(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        answer = self._http.request(method, path, headers=self._headers(), **options)
        try:
            body = answer.json()
        except ValueError:
            body = answer.text[:500]
        if answer.status_code != OK or not isinstance(body, dict) or not body.get("success"):
            raise WireError(method, path, answer.status_code, body)
        return body
