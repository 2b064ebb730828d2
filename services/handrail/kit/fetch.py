"""The one client for addresses that somebody else named: resolve once, check each address, connect to a checked one, re-check redirects."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import zlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from handrail.contract.errors import HandrailError
from handrail.kit.urlguard import PORTS, Target, UrlRefused, is_public, parse, redirected

SECONDS = 20.0  # of one fetch, redirects included
HOPS = 5
HEAD_MAX = 64 * 1024  # bytes
MAX_BYTES = 10 << 20  # bytes of a body, after decompression
REDIRECTS = frozenset({301, 302, 303, 307, 308})
OK = 200
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class FetchFailed(HandrailError):
    """The other side did not give what was asked for, in time and within the size."""

    code = "fetch_failed"
    status = 502
    en = "The address could not be fetched: {reason}"
    zh = "无法获取该地址：{reason}"


@dataclass(frozen=True, slots=True)
class Fetched:
    """The body of a successful answer and where it came from in the end."""

    url: str
    content_type: str
    data: bytes


async def resolve(host: str, port: int) -> Sequence[str]:
    """The addresses of a host. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(info[4][0]) for info in found))


@dataclass(frozen=True, slots=True)
class Fetcher:
    """`permitted` says which addresses may be connected to; the other fields are for tests of it against a server here."""

    resolve: Resolve = resolve
    permitted: Callable[[str], bool] = is_public
    ports: frozenset[int] = PORTS
    max_bytes: int = MAX_BYTES
    seconds: float = SECONDS

    async def get(self, url: str) -> Fetched:
        """Fetch. No credentials are ever sent. Raises UrlRefused, FetchFailed."""
        target = parse(url, ports=self.ports)
        try:
            async with asyncio.timeout(self.seconds):
                for _ in range(HOPS + 1):
                    status, headers, data = await self._once(target)
                    if status in REDIRECTS and "location" in headers:
                        target = redirected(target, headers["location"], ports=self.ports)
                    elif status != OK:
                        raise FetchFailed(reason=f"status {status}")
                    else:
                        return Fetched(target.url, headers.get("content-type", ""), data)
        except TimeoutError as exc:
            raise FetchFailed(reason="time") from exc
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError, zlib.error) as exc:
            raise FetchFailed(reason=type(exc).__name__) from exc
        raise FetchFailed(reason="too many redirects")

    async def _once(self, target: Target) -> tuple[int, dict[str, str], bytes]:
        addresses = await self.resolve(target.host, target.port)
        if not addresses or not all(self.permitted(address) for address in addresses):
            raise UrlRefused(reason="it leads to an address that is not public")
        context = ssl.create_default_context() if target.scheme == "https" else None
        name = target.host if context is not None else None
        # the address that was checked, not the name: a second look-up could say something else
        reader, writer = await asyncio.open_connection(addresses[0], target.port, limit=HEAD_MAX, ssl=context, server_hostname=name)
        try:
            writer.write(
                f"GET {target.path} HTTP/1.1\r\nHost: {target.authority}\r\nAccept: image/*\r\nAccept-Encoding: identity\r\n"
                "User-Agent: handrail\r\nConnection: close\r\n\r\n".encode("ascii")
            )
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            status = int(head[0].partition(" ")[2][:3])
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
            data = b"" if status != OK else self._plain(await self._body(reader, headers), headers)
            return status, headers, data
        finally:
            writer.transport.abort()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _body(self, reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
        out = bytearray()
        if headers.get("transfer-encoding", "").lower() == "chunked":
            while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
                self._within(len(out) + size)
                out += (await reader.readexactly(size + 2))[:-2]
            return bytes(out)
        if "content-length" in headers:
            size = int(headers["content-length"])
            self._within(size)
            return await reader.readexactly(size)
        while chunk := await reader.read(HEAD_MAX):
            out += chunk
            self._within(len(out))
        return bytes(out)

    def _plain(self, data: bytes, headers: dict[str, str]) -> bytes:
        """Decompressed within the limit, although nothing compressed was asked for."""
        encoding = headers.get("content-encoding", "identity").lower()
        if encoding == "identity":
            return data
        if encoding not in {"gzip", "deflate"}:
            raise FetchFailed(reason="an encoding that was not asked for")
        unpacked = zlib.decompressobj(wbits=47).decompress(data, self.max_bytes + 1)
        self._within(len(unpacked))
        return unpacked

    def _within(self, size: int) -> None:
        if not 0 <= size <= self.max_bytes:
            raise FetchFailed(reason="size")
