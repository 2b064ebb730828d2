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
    (b"cache-control", b"no-store"),
]
CORS: list[tuple[bytes, bytes]] = [
    (b"access-control-allow-headers", b"Content-Type, Authorization"),
    (b"access-control-allow-methods", b"GET, POST, PUT, DELETE, OPTIONS"),
]
EXTENSION = [*SECURITY, *CORS, (b"vary", b"Origin")]


def common_headers(origin: str | None) -> list[tuple[bytes, bytes]]:
    """What every answer carries; for an extension also the CORS headers with its own origin.

    Few on purpose: the server checks each header of each answer. What matters to documents alone is added by the page.
    """
    if not is_extension(origin):
        return SECURITY
    return [*EXTENSION, (b"access-control-allow-origin", (origin or "").encode("latin-1"))]


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
