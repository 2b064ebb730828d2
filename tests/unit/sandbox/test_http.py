"""The one HTTP client against a real server on a Unix socket and on loopback."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

import pytest

from handrail.contract.errors import ServiceUnavailable
from handrail.kit import http
from tests.support.places import reachable_dir

Handler = Callable[[bytes], Awaitable[bytes]]
HELLO = b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\nX-A: b\r\n\r\n{"a":"b"}\r\n'


@contextlib.asynccontextmanager
async def server(path: Path, answer: bytes, seen: list[bytes], *, close: bool = False) -> AsyncGenerator[None]:
    ended = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                seen.append(head + await reader.readexactly(size))
                writer.write(answer)
                await writer.drain()
                if close or not answer:
                    break
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        ended.set()

    listening = await asyncio.start_unix_server(serve, str(path))
    try:
        yield
    finally:
        listening.close()
        if seen:
            await ended.wait()


async def test_a_call_sends_json_and_reads_the_answer_on_one_connection() -> None:
    with reachable_dir() as base:
        seen: list[bytes] = []
        async with server(base / "s", HELLO, seen), http.Client(http.Target("test", socket=str(base / "s"))) as client:
            for _ in range(3):
                answer = await client.call("POST", "/x", {"k": "中"}, headers={"X-B": "c"})
                assert (answer.status, answer.headers["x-a"], answer.json()) == (200, "b", {"a": "b"})
            assert b'{"k":"\xe4\xb8\xad"}' in seen[0]
            assert b"X-B: c\r\n" in seen[0]
            sync = await asyncio.to_thread(http.SyncClient(http.Target("test", socket=str(base / "s"))).call, "POST", "/x", [1])
            assert sync.json() == {"a": "b"}


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort",
    ],
)
async def test_a_broken_answer_is_one_clear_error_and_the_request_went_out_once(answer: bytes) -> None:
    with reachable_dir() as base:
        seen: list[bytes] = []
        async with server(base / "s", answer, seen, close=True), http.Client(http.Target("test", socket=str(base / "s"))) as client:
            with pytest.raises(ServiceUnavailable):
                await client.call("POST", "/x", {}, timeout_s=1)
        assert len(seen) == 1


async def test_a_server_that_does_not_answer_or_is_not_there_is_a_clear_error() -> None:
    with reachable_dir() as base:
        async with http.Client(http.Target("test", socket=str(base / "none"))) as client:
            with pytest.raises(ServiceUnavailable):
                await client.call("GET", "/")
        with pytest.raises(ServiceUnavailable):
            http.SyncClient(http.Target("test", socket=str(base / "none"))).call("GET", "/")


def test_only_our_own_machine_is_reached_and_nothing_breaks_out_of_a_line() -> None:
    for host in ("example.org", "169.254.169.254", "0.0.0.0", "10.0.0.1"):
        with pytest.raises(ValueError, match="loopback"):
            http.Target("x", host=host, port=80)
    client = http.SyncClient(http.Target("x", port=9))
    for path in ("/a\r\nX: y", "/a b", "http://example.org/", ""):
        with pytest.raises(ValueError, match="path"):
            client.call("GET", path)
    with pytest.raises(ValueError, match="header"):
        client.call("GET", "/", headers={"X": "a\r\nY: b"})
