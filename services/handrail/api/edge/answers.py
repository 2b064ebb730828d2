"""Answers that the edge writes itself, and the headers that every answer carries."""

from __future__ import annotations

import orjson
from starlette.types import Send

from handrail.api.edge.rules import is_extension
from handrail.contract.errors import HandrailError, Lang

JSON_TYPE = b"application/json; charset=utf-8"
SECURITY: list[tuple[bytes, bytes]] = [
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"x-frame-options", b"DENY"),
]
CORS: list[tuple[bytes, bytes]] = [
    (b"access-control-allow-headers", b"Content-Type, Authorization"),
    (b"access-control-allow-methods", b"GET, POST, PUT, DELETE, OPTIONS"),
]
PLAIN = [*SECURITY, *CORS]


def common_headers(origin: str | None) -> list[tuple[bytes, bytes]]:
    """Security headers, CORS headers, and the origin itself when it is an extension's."""
    if not is_extension(origin):
        return PLAIN
    return [*PLAIN, (b"access-control-allow-origin", (origin or "").encode("latin-1")), (b"vary", b"Origin")]


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
    await send({"type": "http.response.start", "status": 204, "headers": common_headers(origin)})
    await send({"type": "http.response.body", "body": b""})
