"""Answers that stream a source: ranges, names, and the wire's base64 inside of JSON."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import cast
from urllib.parse import quote

import orjson
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from handrail.api.context import Actor
from handrail.api.files.transfer_errors import RangeRefused
from handrail.api.files.transfer_sources import Source
from handrail.api.files.transfers import Transfers
from handrail.api.http import JSON_TYPE

OK, PARTIAL, NOT_MODIFIED = 200, 206, 304
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})\Z")
Span = tuple[int, int]


class Sent(Response):
    """Sends bytes of a source, then closes it and gives the user's place back, whatever happened."""

    def __init__(
        self,
        transfers: Transfers,
        actor: Actor,
        source: Source,
        headers: Mapping[str, str],
        *,
        span: Span | None,
        status: int = OK,
        inside: tuple[bytes, bytes] | None = None,
    ) -> None:
        """`span` None sends no body. `inside`: the base64 of the bytes between these two."""
        self.status_code = status
        self.background = None
        self.body = b""
        self._transfers, self._actor, self._source, self._span, self._inside = transfers, actor, source, span, inside
        self.raw_headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        watcher = asyncio.ensure_future(_gone(receive))
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            pieces = self._pieces()
            while (piece := await self._transfers.run(lambda: next(pieces, None))) is not None:
                if watcher.done():  # nobody reads any more
                    return
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            self.discard()
            watcher.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watcher

    def discard(self) -> None:
        """Close the source of an answer that is over or will not be sent."""
        self._source.close()
        self._transfers.release(self._actor.user_id)

    def _pieces(self) -> Iterator[bytes]:
        if self._span is None:
            return
        pieces = self._source.pieces(*self._span)
        if self._inside is None:
            yield from pieces
            return
        yield self._inside[0]
        yield from base64_of(pieces)
        yield self._inside[1]


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def stream(transfers: Transfers, actor: Actor, source: Source, asked: Mapping[str, str]) -> Sent:
    """The source as it is; `asked` are the request's headers. Raises RangeRefused (416)."""
    shown = quote(source.name, safe="")
    headers = {
        "Content-Type": source.mime if not source.mime.startswith("text/") else f"{source.mime}; charset=utf-8",
        "Content-Disposition": f"attachment; filename=\"{shown}\"; filename*=UTF-8''{shown}",
        "Cache-Control": "no-cache",
        "Content-Security-Policy": "sandbox",
    }
    if source.skipped:
        headers["X-Handrail-Skipped"] = str(source.skipped)
    if not source.etag:
        return Sent(transfers, actor, source, headers | {"Content-Length": str(source.size)}, span=(0, source.size))
    headers |= {"ETag": source.etag, "Accept-Ranges": "bytes"}
    if _names(asked.get("if-none-match", ""), source.etag):
        return Sent(transfers, actor, source, headers, span=None, status=NOT_MODIFIED)
    span = _span(asked, source)
    if span is None:
        return Sent(transfers, actor, source, headers | {"Content-Length": str(source.size)}, span=(0, source.size))
    start, end = span
    headers |= {"Content-Length": str(end - start), "Content-Range": f"bytes {start}-{end - 1}/{source.size}"}
    return Sent(transfers, actor, source, headers, span=span, status=PARTIAL)


def inside_json(transfers: Transfers, actor: Actor, source: Source) -> Sent:
    """The wire's `{success, type, name, size, content(base64), mimeType}`, with its length known and never whole in memory."""
    head = orjson.dumps({"success": True, "type": source.kind, "name": source.name, "size": source.size, "mimeType": source.mime})
    before, after = head[:-1] + b',"content":"', b'"}'
    length = len(before) + 4 * -(-source.size // 3) + len(after)
    headers = {"Content-Type": JSON_TYPE, "Content-Length": str(length)}
    return Sent(transfers, actor, source, headers, span=(0, source.size), inside=(before, after))


def source_of(result: Mapping[str, object]) -> Source:
    """What the download tool opened."""
    return cast("Source", result["source"])


def _names(field: str, etag: str) -> bool:
    tags = {tag.strip().removeprefix("W/") for tag in field.split(",")}
    return etag in tags or field.strip() == "*"


def _span(asked: Mapping[str, str], source: Source) -> Span | None:
    """The one range that was asked for, as [start, end); None = the whole file (several ranges, another version, not understood)."""
    match = _RANGE.match(asked.get("range", "").replace(" ", ""))
    if match is None or match.groups() == ("", ""):
        return None
    condition = asked.get("if-range")
    if condition is not None and condition.strip() != source.etag:
        return None
    first, last = match.groups()
    if not first:
        start, end = max(0, source.size - int(last)), source.size
    else:
        start, end = int(first), min(int(last) + 1 if last else source.size, source.size)
        if last and int(last) < int(first):
            return None
    if start >= end:
        raise RangeRefused(size=source.size, headers={"Content-Range": f"bytes */{source.size}"})
    return start, end


def base64_of(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Base64 of a stream, in pieces that fit together."""
    rest = b""
    for piece in pieces:
        data = rest + piece
        cut = len(data) - len(data) % 3
        rest = data[cut:]
        if cut:
            yield base64.b64encode(data[:cut])
    if rest:
        yield base64.b64encode(rest)
