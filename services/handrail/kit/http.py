"""The one HTTP client: to our own services over a Unix socket or loopback. Nothing else of ours opens a connection.

Bodies are JSON. Async for the api (own few lines: it is on the way of every command), sync for the command line;
both bounded in time and in size. The standard library is enough: a general client costs a millisecond a call.
"""

from __future__ import annotations

import asyncio
import http.client
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import orjson

from handrail.contract.errors import ServiceUnavailable

MAX_ANSWER = 64 * 1024 * 1024  # bytes
CONNECT_S = 2.0
KEEP_ALIVE_S = 4.0  # below the servers' 5 s, so that no request meets a connection that is being closed
MAX_IDLE = 32  # connections kept open
BUFFER = 1024 * 1024  # bytes
LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True)
class Answer:
    """Status and body of one answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:  # noqa: ANN401 - JSON is any of six types
        """The parsed body. Raises ValueError when it is none."""
        return orjson.loads(self.body)


@dataclass(frozen=True, slots=True)
class Target:
    """A service of ours: a Unix socket, or a port of this machine."""

    name: str  # for error messages
    socket: str = ""
    host: str = "127.0.0.1"
    port: int = 0

    def __post_init__(self) -> None:
        if not self.socket and self.host not in LOOPBACK:
            raise ValueError("only Unix sockets and loopback are reached from here")

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        if self.socket:
            return "localhost"
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def _request(target: Target, path: str, body: object, headers: Mapping[str, str] | None) -> tuple[list[tuple[str, str]], bytes]:
    """Headers and content. Raises ValueError for what would break out of the request line or a header."""
    content = b"" if body is None else orjson.dumps(body)
    sent = [("Host", target.authority), ("Content-Type", "application/json"), ("Content-Length", str(len(content)))]
    sent += list((headers or {}).items())
    if not path.startswith("/") or not path.isprintable() or " " in path or not all((name + value).isprintable() for name, value in sent):
        raise ValueError("not a path or header that can be sent")
    return sent, content


class Client:
    """Async client of one service of ours, lean: HTTP/1.1, keep-alive, answers with a Content-Length.

    A request that may have reached the service is never sent twice. Close it with `aclose` or `async with`.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._idle: list[_Connection] = []
        self._closed = False

    async def call(
        self, method: str, path: str, body: object = None, *, headers: Mapping[str, str] | None = None, timeout_s: float = 30.0
    ) -> Answer:
        """One request. Raises ServiceUnavailable when the service cannot be reached, does not answer in time or answers too much."""
        sent, content = _request(self._target, path, body, headers)
        head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in sent) + "\r\n"
        try:
            async with asyncio.timeout(timeout_s):
                connection = self._take() or await self._connect()
                try:
                    answer = await connection.exchange(head.encode("latin-1") + content)
                except BaseException:
                    connection.close()
                    raise
        except (OSError, TimeoutError, EOFError, ValueError, asyncio.LimitOverrunError) as exc:
            raise ServiceUnavailable(service=self._target.name) from exc
        self._give_back(connection)
        return answer

    def _take(self) -> _Connection | None:
        now = asyncio.get_running_loop().time()
        while self._idle:
            connection = self._idle.pop()
            if connection.usable(now):
                return connection
            connection.close()
        return None

    def _give_back(self, connection: _Connection) -> None:
        if self._closed or connection.finished or len(self._idle) >= MAX_IDLE:
            connection.close()
        else:
            connection.idle_since = asyncio.get_running_loop().time()
            self._idle.append(connection)

    async def _connect(self) -> _Connection:
        async with asyncio.timeout(CONNECT_S):
            if self._target.socket:
                reader, writer = await asyncio.open_unix_connection(self._target.socket, limit=BUFFER)
            else:
                reader, writer = await asyncio.open_connection(self._target.host, self._target.port, limit=BUFFER)
        return _Connection(reader, writer)

    async def aclose(self) -> None:
        """Close every idle connection; one that is in use is closed when its answer is there."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()
        await asyncio.sleep(0)  # a transport closes its socket in the loop's next round

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()


class _Connection:
    """One keep-alive connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.idle_since = 0.0
        self.finished = False  # the server will close it

    def usable(self, now: float) -> bool:
        """Whether a request can still be sent: the server has not closed it, nor is it about to."""
        return not self._reader.at_eof() and not self._writer.is_closing() and now - self.idle_since < KEEP_ALIVE_S

    async def exchange(self, request: bytes) -> Answer:
        """Send and read the answer. Raises EOFError, OSError, ValueError."""
        self._writer.write(request)
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        status = int(head[0].partition(" ")[2][:3])
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        self.finished = headers.get("connection", "").lower() == "close"
        size = int(headers["content-length"]) if "content-length" in headers else -1
        if size > MAX_ANSWER or (size < 0 and "transfer-encoding" in headers):
            raise ValueError("an answer that is too large or has no length")
        if size < 0:
            self.finished = True
            return Answer(status, headers, await self._reader.read(MAX_ANSWER))
        return Answer(status, headers, await self._reader.readexactly(size) if size else b"")

    def close(self) -> None:
        """Drop the connection now: nothing that is still on its way matters."""
        self._writer.transport.abort()


class SyncClient:
    """The same for code without an event loop: one connection a call. Safe to share between threads."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def call(
        self, method: str, path: str, body: object = None, *, headers: Mapping[str, str] | None = None, timeout_s: float = 30.0
    ) -> Answer:
        """One request. Raises ServiceUnavailable as `Client.call` does; `timeout_s` is for each wait."""
        sent, content = _request(self._target, path, body, headers)
        connection = _SyncConnection(self._target, timeout_s)
        try:
            connection.request(method, path, content, dict([*sent, ("Connection", "close")]))
            response = connection.getresponse()
            raw = response.read(MAX_ANSWER + 1)
            if len(raw) > MAX_ANSWER:
                raise ServiceUnavailable(service=self._target.name)
            return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, raw)
        except (OSError, http.client.HTTPException) as exc:
            raise ServiceUnavailable(service=self._target.name) from exc
        finally:
            connection.close()


class _SyncConnection(http.client.HTTPConnection):
    """A connection to a target that may be a Unix socket."""

    def __init__(self, target: Target, timeout_s: float) -> None:
        super().__init__("localhost" if target.socket else target.host, target.port or None, timeout=timeout_s)
        self._unix = target.socket

    def connect(self) -> None:
        if not self._unix:
            super().connect()
            return
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.settimeout(self.timeout)
            sock.connect(self._unix)
        except BaseException:
            sock.close()
            raise
        self.sock = sock
