"""Answers that the edge writes itself, and the headers that every answer carries."""

from __future__ import annotations

import orjson
from starlette.responses import Response
from starlette.types import Message, Send

from handrail.api.edge.head import Head
from handrail.api.edge.metrics import Metrics
from handrail.api.edge.rules import is_extension
from handrail.contract.errors import HandrailError, Lang

JSON_TYPE = b"application/json; charset=utf-8"
SECURITY: list[tuple[bytes, bytes]] = [
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
CORS: list[tuple[bytes, bytes]] = [
    (b"access-control-allow-headers", b"Content-Type, Authorization"),
    (b"access-control-allow-methods", b"GET, POST, PUT, DELETE, OPTIONS"),
]
OVERRIDABLE = frozenset({b"cache-control", b"cross-origin-resource-policy"})
EXTENSION = [*SECURITY, *CORS, (b"vary", b"Origin")]


def common_headers(origin: str | None) -> list[tuple[bytes, bytes]]:
    """What every answer carries; for an extension also the CORS headers with its own origin.

    Few on purpose: the server checks each header of each answer. What matters to documents alone is added by the page.
    """
    if not is_extension(origin):
        return SECURITY
    return [*EXTENSION, (b"access-control-allow-origin", (origin or "").encode("latin-1"))]


class Answer:
    """The way out of one request: adds what every answer carries, counts it, knows whether it began. An ASGI `send`."""

    __slots__ = ("_metrics", "head", "method", "path", "request_id", "send", "started")

    def __init__(self, send: Send, head: Head, method: str, path: str, request_id: str, metrics: Metrics) -> None:
        self.send = send
        self.head = head
        self.method = method
        self.path = path
        self.request_id = request_id
        self.started = False
        self._metrics = metrics

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._begin(message["status"])
            own: list[tuple[bytes, bytes]] = list(message.get("headers", ()))
            given = {name for name, _ in own if name in OVERRIDABLE}
            common = common_headers(self.head.origin)
            if given:
                common = [(name, value) for name, value in common if name not in given]
            message["headers"] = [*own, *common, (b"x-request-id", self.request_id.encode())]
        await self.send(message)

    async def plain(self, response: Response) -> None:
        """All of an answer that has no headers to weigh."""
        self._begin(response.status_code)
        headers = [*response.raw_headers, *common_headers(self.head.origin), (b"x-request-id", self.request_id.encode())]
        await self.send({"type": "http.response.start", "status": response.status_code, "headers": headers})
        await self.send({"type": "http.response.body", "body": response.body})

    def _begin(self, status: int) -> None:
        self.started = True
        self._metrics.answered(self.method, self.path, status)


async def send_error(send: Send, exc: HandrailError, lang: Lang, request_id: str, origin: str | None) -> None:
    """The error as the wire's JSON."""
    headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in exc.headers.items()]
    await send_json(send, exc.status, exc.body(lang, request_id), origin, headers)


async def send_json(send: Send, status: int, body: object, origin: str | None, extra: list[tuple[bytes, bytes]]) -> None:
    """A JSON answer in two ASGI messages."""
    raw = orjson.dumps(body)
    headers = [(b"content-type", JSON_TYPE), (b"content-length", str(len(raw)).encode()), *common_headers(origin), *extra]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": raw})


async def send_preflight(send: Send, origin: str | None) -> None:
    """OPTIONS: 204. Only an extension's origin is told that it may."""
    headers = common_headers(origin) if is_extension(origin) else [*SECURITY, *CORS]
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
