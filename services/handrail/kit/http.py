"""The one HTTP client: to our own services over a Unix socket or loopback. Nothing else of ours opens a connection.

Bodies are JSON. Async for the api, sync for the command line; both pooled, both bounded in time and in size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import httpcore
import orjson

from handrail.contract.errors import ServiceUnavailable

MAX_ANSWER = 64 * 1024 * 1024  # bytes
CONNECT_S = 2.0
KEEP_ALIVE_S = 4.0  # below the servers' 5 s, so that no request meets a connection that is being closed
MAX_CONNECTIONS = 512
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

    def url(self, path: str) -> str:
        """The address of `path`, which must start with a slash."""
        if not path.startswith("/"):
            raise ValueError("path must start with /")
        if self.socket:
            return f"http://localhost{path}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}{path}"


def _request(target: Target, path: str, body: object, headers: Mapping[str, str] | None) -> tuple[str, list[tuple[str, str]], bytes]:
    content = b"" if body is None else orjson.dumps(body)
    sent = [("Host", "localhost"), ("Content-Type", "application/json"), ("Content-Length", str(len(content)))]
    if not target.socket:
        host = f"[{target.host}]" if ":" in target.host else target.host
        sent[0] = ("Host", f"{host}:{target.port}")
    return target.url(path), [*sent, *(headers or {}).items()], content


def _times(timeout_s: float) -> dict[str, object]:
    return {"timeout": {"connect": CONNECT_S, "read": timeout_s, "write": timeout_s, "pool": timeout_s}}


def _headers(raw: list[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in raw}


class Client:
    """Async client of one service. Close it with `aclose` or `async with`."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._pool = httpcore.AsyncConnectionPool(
            uds=target.socket or None,
            max_connections=MAX_CONNECTIONS,
            max_keepalive_connections=32,
            keepalive_expiry=KEEP_ALIVE_S,
            retries=1,
        )

    async def call(
        self, method: str, path: str, body: object = None, *, headers: Mapping[str, str] | None = None, timeout_s: float = 30.0
    ) -> Answer:
        """One request; a request that may have reached the service is never sent twice.

        Raises ServiceUnavailable when the service cannot be reached, does not answer in time or answers too much.
        """
        url, sent, content = _request(self._target, path, body, headers)
        try:
            async with self._pool.stream(method, url, headers=sent, content=content, extensions=_times(timeout_s)) as response:
                parts: list[bytes] = []
                size = 0
                async for part in response.aiter_stream():
                    size += len(part)
                    if size > MAX_ANSWER:
                        raise ServiceUnavailable(service=self._target.name)
                    parts.append(part)
                return Answer(response.status, _headers(response.headers), b"".join(parts))
        except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, OSError) as exc:
            raise ServiceUnavailable(service=self._target.name) from exc

    async def aclose(self) -> None:
        """Close every connection."""
        await self._pool.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()


class SyncClient:
    """The same for code without an event loop."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._pool = httpcore.ConnectionPool(uds=target.socket or None, max_connections=4, keepalive_expiry=KEEP_ALIVE_S, retries=1)

    def call(
        self, method: str, path: str, body: object = None, *, headers: Mapping[str, str] | None = None, timeout_s: float = 30.0
    ) -> Answer:
        """One request. Raises ServiceUnavailable as `Client.call` does."""
        url, sent, content = _request(self._target, path, body, headers)
        try:
            with self._pool.stream(method, url, headers=sent, content=content, extensions=_times(timeout_s)) as response:
                parts: list[bytes] = []
                size = 0
                for part in response.iter_stream():
                    size += len(part)
                    if size > MAX_ANSWER:
                        raise ServiceUnavailable(service=self._target.name)
                    parts.append(part)
                return Answer(response.status, _headers(response.headers), b"".join(parts))
        except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, OSError) as exc:
            raise ServiceUnavailable(service=self._target.name) from exc

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
