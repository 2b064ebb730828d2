"""A load generator in a process of its own: raw asyncio sockets, keep-alive, one request after the other on each connection.

Reads a job as JSON from stdin: {"port", "connections", "seconds" or "requests", "request": base64};
writes {"count", "seconds", "rate", "p50_ms", "p99_ms"}.
"""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
OK = b"HTTP/1.1 200"
PATIENCE_S = 60


class Connection(asyncio.Protocol):
    """Sends the request again as soon as the answer is complete, until it is told to stop."""

    def __init__(self, request: bytes, until: float, most: int, done: asyncio.Future[None]) -> None:
        self._request = request
        self._until = until
        self._most = most
        self._done = done
        self._buffer = b""
        self._expected = -1  # bytes of the whole answer, -1 while the head is incomplete
        self.times: list[float] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._send()

    def _send(self) -> None:
        self._begun = time.perf_counter()
        self._transport.write(self._request)  # type: ignore[attr-defined]  # a TCP transport writes

    def data_received(self, data: bytes) -> None:
        self._buffer = self._buffer + data if self._buffer else data
        if self._expected < 0:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            head = self._buffer[:end].lower()
            if not self._buffer.startswith(OK):
                self._fail(f"not 200: {self._buffer[:300]!r}")
                return
            at = head.index(b"content-length:")
            self._expected = end + 4 + int(head[at + 15 :].split(b"\r\n", 1)[0])
        if len(self._buffer) < self._expected:
            return
        now = time.perf_counter()
        self.times.append(now - self._begun)
        self._buffer, self._expected = b"", -1
        if now >= self._until or len(self.times) >= self._most:
            self._transport.close()
            if not self._done.done():
                self._done.set_result(None)
        else:
            self._send()

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(f"connection lost: {exc!r}")

    def _fail(self, why: str) -> None:
        if not self._done.done():
            self._done.set_exception(RuntimeError(why))


async def drive(job: dict[str, Any]) -> dict[str, float]:
    """Run one job. Raises RuntimeError for the first answer that is not 200."""
    loop = asyncio.get_running_loop()
    request = base64.b64decode(job["request"])
    begun = time.perf_counter()
    until = begun + job.get("seconds", PATIENCE_S)
    each = -(-job.get("requests", 10**9) // job["connections"])
    connections: list[Connection] = []
    waits: list[asyncio.Future[None]] = []
    for _ in range(job["connections"]):
        done: asyncio.Future[None] = loop.create_future()
        connection = Connection(request, until, each, done)
        connections.append(connection)
        waits.append(done)
        await loop.create_connection(lambda connection=connection: connection, "127.0.0.1", job["port"])
    await asyncio.gather(*waits)
    took = time.perf_counter() - begun
    times = sorted(value for connection in connections for value in connection.times)
    return {
        "count": len(times),
        "seconds": took,
        "rate": len(times) / took,
        "p50_ms": 1000 * times[len(times) // 2],
        "p99_ms": 1000 * times[int(len(times) * 0.99)],
    }


def load(port: int, request: bytes, connections: int, **bound: float) -> dict[str, float]:
    """Run a job in a process of its own. `bound`: seconds= or requests=."""
    job = json.dumps({"port": port, "connections": connections, "request": base64.b64encode(request).decode(), **bound})
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.load"], input=job, capture_output=True, text=True, cwd=ROOT, check=False, timeout=2 * PATIENCE_S
    )
    if done.returncode != 0:
        raise RuntimeError(f"load generator failed: {done.stderr[-2000:]}")
    return json.loads(done.stdout)


def http_request(path: str, token: str, body: bytes) -> bytes:
    """The bytes of a POST with a JSON body."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


if __name__ == "__main__":
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(drive(json.loads(sys.stdin.read())))))
