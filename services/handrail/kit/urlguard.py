"""The one guard of URLs that somebody else named: one parser for the check and the request, and no address but public ones."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urljoin

from handrail.contract.errors import HandrailError

MAX_URL = 2048  # characters
PORTS = frozenset({80, 443, 8080, 8443})
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?"
_URL = re.compile(rf"(?i:(https?))://(\[[0-9A-Fa-f:.]{{2,45}}\]|{_NAME})(?::([0-9]{{1,5}}))?([/?][!-~]*)?", re.ASCII)
_NAT64 = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
_COMPATIBLE = ipaddress.IPv6Network("::/96")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class UrlRefused(HandrailError):
    """The URL is not one that is fetched, or leads to an address that is not public."""

    code = "url_refused"
    status = 403
    en = "This address is not fetched: {reason}"
    zh = "不会访问该地址：{reason}"


@dataclass(frozen=True, slots=True)
class Target:
    """What a URL means: where to connect and what to ask for."""

    scheme: str
    host: str  # without brackets, lower case
    port: int
    path: str

    @property
    def authority(self) -> str:
        """The Host header."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == {"http": 80, "https": 443}[self.scheme] else f"{name}:{self.port}"

    @property
    def url(self) -> str:
        """The URL again."""
        return f"{self.scheme}://{self.authority}{self.path}"


def parse(url: str, *, ports: frozenset[int] = PORTS) -> Target:
    """Strict: no user, no password, no backslash, ASCII only. Raises UrlRefused."""
    bare = url.partition("#")[0]
    match = _URL.fullmatch(bare) if len(url) <= MAX_URL else None
    if match is None or "\\" in bare:
        raise UrlRefused(reason="only plain http and https URLs")
    scheme, host, port, path = match.groups()
    scheme = scheme.lower()
    number = int(port) if port else {"http": 80, "https": 443}[scheme]
    if number not in ports:
        raise UrlRefused(reason="this port is not reached")
    return Target(scheme, host.strip("[]").lower(), number, path if path and path[0] == "/" else "/" + (path or ""))


def redirected(base: Target, location: str, *, ports: frozenset[int] = PORTS) -> Target:
    """Where an answer sends on to. Raises UrlRefused, also for a step down from https."""
    target = parse(urljoin(base.url, location), ports=ports)
    if base.scheme == "https" and target.scheme != "https":
        raise UrlRefused(reason="a redirect from https to http")
    return target


def is_public(text: str) -> bool:
    """Whether an address is a public one, every address that is embedded in it included."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return "%" not in text and all(one.is_global and not one.is_multicast for one in _with_embedded(address))


def _with_embedded(address: Address) -> list[Address]:
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    found: list[Address] = []
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]  # the kernel connects to exactly that one
    if address.sixtofour is not None:
        found.append(address.sixtofour)
    if address.teredo is not None:
        found += address.teredo
    if any(address in network for network in (*_NAT64, _COMPATIBLE)):
        found.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return [address, *found] if address not in _NAT64[0] else found
