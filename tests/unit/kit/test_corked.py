"""Head and body of an answer leave in one piece."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from handrail.kit.corked import Corked


class Sent:
    """A transport that remembers what it was given."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        self.pieces.append(data)

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def get_extra_info(self, name: str) -> str:
        return f"<{name}>"


HEAD = b"HTTP/1.1 200 OK\r\n\r\n"


async def _corked() -> tuple[Corked, Sent]:
    sent = Sent()
    return Corked(cast("Any", sent), asyncio.get_running_loop()), sent


async def test_a_head_leaves_with_the_body_behind_it() -> None:
    corked, sent = await _corked()
    corked.write(HEAD)
    assert sent.pieces == []
    corked.write(b"body")
    corked.write(b"more")
    await asyncio.sleep(0)
    assert sent.pieces == [HEAD + b"body", b"more"]


async def test_a_head_alone_leaves_at_the_end_of_the_turn() -> None:
    corked, sent = await _corked()
    corked.write(HEAD)
    await asyncio.sleep(0)
    assert sent.pieces == [HEAD]


async def test_an_empty_body_lets_its_head_go() -> None:
    corked, sent = await _corked()
    corked.write(HEAD)
    corked.write(b"")
    assert sent.pieces == [HEAD]


async def test_close_sends_what_was_kept_back_first() -> None:
    corked, sent = await _corked()
    corked.write(HEAD)
    corked.close()
    assert (sent.pieces, sent.closed) == ([HEAD], True)
    await asyncio.sleep(0)
    assert sent.pieces == [HEAD]


async def test_nothing_is_written_to_a_transport_that_closes() -> None:
    corked, sent = await _corked()
    corked.write(HEAD)
    sent.closed = True
    await asyncio.sleep(0)
    assert sent.pieces == []


async def test_everything_else_is_the_transports_own() -> None:
    corked, _ = await _corked()
    assert corked.get_extra_info("peername") == "<peername>"
