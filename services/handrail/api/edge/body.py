"""Body rules: what type, how large, decided before a byte is read; and a counting reader for what comes in chunks."""

from __future__ import annotations

from starlette.types import Message, Receive

from handrail.api.edge.errors import BadUrl
from handrail.api.edge.head import Head
from handrail.contract.errors import BodyTooLarge, HandrailError, WrongContentType

# streams have their own caps and types (file transfers); everything else is JSON
STREAMS: dict[str, str] = {
    "/api/fs/upload-stream": "",
    "/api/files/upload": "multipart/form-data",
}
BODYLESS = frozenset({"GET", "HEAD", "OPTIONS"})


def check_body(head: Head, method: str, path: str, limit: int) -> HandrailError | None:
    """415 for a body that is not JSON, 413 for one that is declared too large, 400 for a bad Content-Length."""
    if head.content_length == -1:
        return BadUrl()
    has_body = bool(head.content_length) or head.chunked
    if not has_body or method in BODYLESS:
        return None
    expected = STREAMS.get(path, "application/json")
    if head.content_type.split(";", 1)[0].strip() != expected and expected:
        return WrongContentType(expected=expected)
    if path not in STREAMS and head.content_length is not None and head.content_length > limit:
        return BodyTooLarge(limit=limit)
    return None


def capped(receive: Receive, limit: int) -> Receive:
    """`receive` that raises BodyTooLarge once more than `limit` bytes came in."""
    seen = 0

    async def reader() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > limit:
                raise BodyTooLarge(limit=limit)
        return message

    return reader
