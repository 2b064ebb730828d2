"""The head of a request, read once. Pure: bytes in, values out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MAX_TARGET = 8192  # bytes of path and query


@dataclass(slots=True)
class Head:
    """The header fields that decide whether a request is let in. Absent fields are empty."""

    host: str = ""
    hosts: int = 0  # how many Host fields there were
    origin: str | None = None
    fetch_site: str = ""
    fetch_mode: str = ""
    authorization: str = ""
    content_type: str = ""
    content_length: int | None = None  # -1 when it is not a number
    chunked: bool = False
    language: str = ""
    user_agent: str = ""
    conversation: str = ""
    turn: str = ""


def read_head(headers: Iterable[tuple[bytes, bytes]]) -> Head:
    """Collect the fields. ASGI gives names in lower case."""
    head = Head()
    for name, value in headers:
        if name == b"host":
            head.host = value.decode("latin-1").strip().lower()
            head.hosts += 1
        elif name == b"authorization":
            head.authorization = value.decode("latin-1")
        elif name == b"content-type":
            head.content_type = value.decode("latin-1").lower()
        elif name == b"content-length":
            text = value.strip()
            head.content_length = int(text) if text.isdigit() and len(text) < 19 else -1  # noqa: PLR2004 - 19 digits overflow int64
        elif name == b"origin":
            head.origin = value.decode("latin-1").strip()
        elif name == b"accept-language":
            head.language = value.decode("latin-1")
        elif name == b"sec-fetch-site":
            head.fetch_site = value.decode("latin-1").strip().lower()
        elif name == b"sec-fetch-mode":
            head.fetch_mode = value.decode("latin-1").strip().lower()
        elif name == b"transfer-encoding":
            head.chunked = True
        elif name == b"user-agent":
            head.user_agent = value.decode("latin-1")[:256]
        else:
            _grouping(head, name, value)
    return head


def _grouping(head: Head, name: bytes, value: bytes) -> None:
    if name == b"x-handrail-conversation":
        head.conversation = value.decode("latin-1").strip()
    elif name == b"x-handrail-turn":
        head.turn = value.decode("latin-1").strip()


def bearer(authorization: str) -> str | None:
    """The token of `Authorization: Bearer <token>`; None for anything else."""
    scheme, _, token = authorization.partition(" ")
    token = token.strip()
    return token if scheme.lower() == "bearer" and token else None


def host_name(host: str) -> str | None:
    """The name in a Host field without its port; None when the field is malformed."""
    if host.startswith("["):
        name, bracket, port = host[1:].partition("]")
        if not bracket or (port and not _is_port(port)):
            return None
        return f"[{name}]"
    name, colon, port = host.partition(":")
    if not name or (colon and not _is_port(":" + port)):
        return None
    return name


def _is_port(text: str) -> bool:
    return text.startswith(":") and text[1:].isdigit() and len(text) <= 6  # noqa: PLR2004 - a colon and five digits
