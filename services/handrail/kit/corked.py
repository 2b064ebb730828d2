"""Head and body of an answer in one system call.

uvicorn writes an answer's head and its body apart, and uvloop sends each at once: two system calls and two packets for
what is mostly a few hundred bytes. Here the head waits for the first bytes behind it, at most until the end of the loop's turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Transport

HEAD = b"HTTP/1.1 "


class Corked:
    """A transport whose `write` keeps the head of an answer back. Everything else is the transport's own."""

    def __init__(self, transport: Transport, loop: AbstractEventLoop) -> None:
        self.plain = transport
        self._loop = loop
        self._head = b""

    def write(self, data: bytes) -> None:
        """Send `data`, with the head before it; or keep it when it is a head."""
        if self._head:
            data, self._head = self._head + data, b""
        elif data.startswith(HEAD):
            self._head = data
            self._loop.call_soon(self.flush)
            return
        if data:
            self.plain.write(data)

    def flush(self) -> None:
        """Send a head that nothing followed (a stream that waits for its first piece)."""
        if self._head and not self.plain.is_closing():
            self.plain.write(self._head)
        self._head = b""

    def close(self) -> None:
        """Close once everything is sent."""
        self.flush()
        self.plain.close()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the transport has
        return getattr(self.plain, name)


class CorkedHttp(HttpToolsProtocol):
    """uvicorn's HTTP protocol on a corked transport; a WebSocket gets the plain one."""

    def connection_made(self, transport: Transport) -> None:
        super().connection_made(cast("Transport", Corked(transport, self.loop)))

    def handle_websocket_upgrade(self) -> None:
        self.transport = cast("Corked", self.transport).plain
        super().handle_websocket_upgrade()
