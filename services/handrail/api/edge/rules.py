"""Who may speak to this service at all: host names and origins. Pure functions of the head.

The rule is exactly as wide as the browser extension needs. From its pages and worker a GET carries no Origin and
`Sec-Fetch-Site: none`; a POST or WebSocket carries `Origin: chrome-extension://<id>`. A web page always shows an
http(s) Origin or `Sec-Fetch-Site: cross-site`, so it can be told apart and is refused.
"""

from __future__ import annotations

import re

from handrail.api.edge.errors import BadUrl, ForeignOrigin, WrongHost
from handrail.api.edge.head import Head, host_name
from handrail.contract.errors import HandrailError

LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
EXTENSION = re.compile(r"chrome-extension://[a-p]{32}\Z")
NOT_A_PAGE = frozenset({"", "none", "same-origin"})


def check_host(head: Head, extra: frozenset[str]) -> HandrailError | None:
    """Loopback names with any port (a tunnel changes it) and the configured names; else 421."""
    if head.hosts > 1:
        return BadUrl()
    name = host_name(head.host)
    if name is None or (name not in LOOPBACK and name not in extra):
        return WrongHost(host=head.host[:100] or "(none)")
    return None


def check_origin(head: Head, *, navigation: bool) -> HandrailError | None:
    """`navigation`: the path is a public page that a person may reach by a link from anywhere."""
    if head.origin is None:
        if head.fetch_site in NOT_A_PAGE or (navigation and head.fetch_mode == "navigate"):
            return None
        return ForeignOrigin()
    if is_extension(head.origin) or is_own(head):
        return None
    return ForeignOrigin()


def is_extension(origin: str | None) -> bool:
    """A Chrome extension's origin: 32 letters a to p."""
    return origin is not None and EXTENSION.match(origin) is not None


def is_own(head: Head) -> bool:
    """Our own page: the origin names the host that was asked, and the browser agrees."""
    return head.origin in (f"http://{head.host}", f"https://{head.host}") and head.fetch_site in NOT_A_PAGE
