# ruff: noqa: E501 - tables of URLs, addresses and answers
"""URLs of others: what is refused before a connection, and what a hostile server can do."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from handrail.kit.fetch import Fetcher, FetchFailed
from handrail.kit.urlguard import UrlRefused, is_public, parse, redirected

Answer = Callable[[str], bytes]
BAD = [
    "http://allowed.example\\@127.0.0.1/", "http://user:pass@example.com/", "http://example.com@127.0.0.1/", "ftp://example.com/", "file:///etc/passwd",
    "http://example.com:22/", "http://example.com:99999/", "http:///x", "http://exämple.com/", "http://example.com/ x", "http://example.com/\r\nX: y",
    "http://[::1", "javascript:alert(1)", "//example.com/", "http://-a/", "gopher://x/", "http://a\tb/", "", "http://" + "a" * 3000,
]  # fmt: skip
PRIVATE = [
    "127.0.0.1", "10.0.0.1", "172.16.5.5", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "255.255.255.255", "224.0.0.1", "198.18.0.1",
    "::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2002:a9fe:a9fe::1", "64:ff9b:1::7f00:1", "fe80::1%eth0", "x", "",
]  # fmt: skip


@pytest.mark.req("ATK-30")
@pytest.mark.parametrize("url", BAD)
def test_a_url_that_two_parsers_could_read_differently_is_refused(url: str) -> None:
    with pytest.raises(UrlRefused):
        parse(url)


@pytest.mark.req("ATK-32")
@pytest.mark.parametrize("address", PRIVATE)
def test_no_address_that_is_not_public_is_permitted_however_it_is_written(address: str) -> None:
    assert not is_public(address)


def test_public_addresses_are_permitted_and_urls_come_back() -> None:
    assert all(is_public(address) for address in ("93.184.216.34", "2606:4700::1111", "64:ff9b::808:808", "::ffff:8.8.8.8"))
    assert parse("https://Example.com?x=1#frag").url == "https://example.com/?x=1"
    assert parse("http://[2606:4700::1111]:8080/a").authority == "[2606:4700::1111]:8080"
    with pytest.raises(UrlRefused):
        redirected(parse("https://example.com/"), "http://example.com/")


@asynccontextmanager
async def serving(answer: Answer) -> AsyncGenerator[tuple[Fetcher, int, list[str]]]:
    """A server here, and a fetcher that may reach exactly it under any name but those of `private.test`."""
    asked: list[str] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        asked.append(head)
        writer.write(answer(head.split(" ")[1]))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    async def resolve(host: str, _port: int) -> Sequence[str]:
        return ["169.254.169.254"] if host.endswith("private.test") else ["127.0.0.1"]

    async with server:
        yield (
            Fetcher(
                resolve=resolve, permitted=lambda address: address == "127.0.0.1", ports=frozenset({port}), max_bytes=100_000, seconds=3
            ),
            port,
            asked,
        )


def page(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode() + body


@pytest.mark.req("ATK-31", "F10")
async def test_every_redirect_is_checked_again() -> None:
    def answer(path: str) -> bytes:
        where = {"/a": "/b", "/b": "http://private.test:{port}/", "/loop": "/loop"}.get(path)
        return (
            page(b"fine", "Content-Length: 4") if where is None else page(b"", f"Location: {where.format(port=port)}", status="302 Found")
        )

    async with serving(answer) as (fetcher, port, asked):
        assert (await fetcher.get(f"http://public.test:{port}/x")).data == b"fine"
        assert "Cookie" not in asked[0]
        assert f"Host: public.test:{port}\r\n" in asked[0]
        with pytest.raises(UrlRefused):
            await fetcher.get(f"http://public.test:{port}/a")
        assert len(asked) == 3, "the private address was never asked"
        with pytest.raises(FetchFailed):
            await fetcher.get(f"http://public.test:{port}/loop")
        assert len(asked) == 9


@pytest.mark.req("ATK-32")
async def test_a_name_with_one_private_address_is_refused_and_names_are_resolved_once() -> None:
    looked: list[str] = []

    async with serving(lambda _: page(b"fine", "Content-Length: 4")) as (fetcher, port, asked):

        async def rebinding(host: str, _port: int) -> Sequence[str]:
            looked.append(host)
            return ["127.0.0.1"] if len(looked) == 1 else ["169.254.169.254"]

        async def mixed(_host: str, _port: int) -> Sequence[str]:
            return ["127.0.0.1", "10.0.0.1"]

        assert (await replace(fetcher, resolve=rebinding).get(f"http://rebind.test:{port}/")).data == b"fine"
        assert looked == ["rebind.test"]
        with pytest.raises(UrlRefused):
            await replace(fetcher, resolve=mixed).get(f"http://mixed.test:{port}/")
        assert len(asked) == 1
        with pytest.raises(UrlRefused):  # the real look-up of ways to write loopback
            await Fetcher().get("http://127.1/")
        for url in ("http://2130706433/", "http://0x7f.0.0.1/", "http://[::1]/", "http://localhost/"):
            with pytest.raises((UrlRefused, FetchFailed)):
                await Fetcher().get(url)


@pytest.mark.req("ATK-27")
@pytest.mark.parametrize(
    "answer",
    [
        page(b"", "Content-Length: 100001"), page(b"x" * 200_000), page(gzip.compress(b"\0" * 5_000_000), "Content-Encoding: gzip"),
        page(b"186a1\r\n" + b"x" * 100_001 + b"\r\n0\r\n\r\n", "Transfer-Encoding: chunked"), page(b"x", "Content-Encoding: br"), b"nonsense\r\n\r\n",
        page(b"", "Content-Length: -1"), page(b"x", "Content-Length: 5"), b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000, page(b"", status="404 Not Found"),
        page(b"zz\r\n", "Transfer-Encoding: chunked"), page(b"not gzip", "Content-Encoding: gzip"), page(b"-5\r\n", "Transfer-Encoding: chunked"),
    ],
    ids=lambda value: str(value[:40]),
)  # fmt: skip
async def test_a_hostile_answer_is_a_refusal_and_nothing_else(answer: bytes) -> None:
    async with serving(lambda _: answer) as (fetcher, port, _):
        with pytest.raises(FetchFailed):
            await fetcher.get(f"http://public.test:{port}/")


async def test_a_silent_server_is_left_in_time_and_chunks_are_put_together() -> None:
    chunked = page(b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", "Transfer-Encoding: chunked")
    async with serving(lambda path: chunked if path == "/c" else b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n") as (fetcher, port, _):
        assert (await fetcher.get(f"http://public.test:{port}/c")).data == b"abcde"
        with pytest.raises(FetchFailed):
            await replace(fetcher, seconds=0.3).get(f"http://public.test:{port}/")
