"""The paths that need no token. This is the whole list; a test calls every other route without one."""

from __future__ import annotations

PAIR = ("POST", "/api/pair")
STATUS = ("GET", "/api/status")
SHUTDOWN = ("POST", "/api/shutdown")  # free for loopback peers that are not a web page; else a token

API = frozenset({PAIR, STATUS, SHUTDOWN, ("GET", "/healthz"), ("GET", "/readyz")})
PAGES = frozenset({("GET", "/"), ("GET", "/docs"), ("GET", "/openapi.json"), ("GET", "/favicon.ico")})
ASSETS = "/web/"  # static files of the page; no data


def is_page(method: str, path: str) -> bool:
    """A static page or asset: reachable by navigation, holds no data."""
    method = "GET" if method == "HEAD" else method
    return (method, path) in PAGES or (method == "GET" and path.startswith(ASSETS))


def is_public(method: str, path: str) -> bool:
    """Whether the path is served without a token."""
    method = "GET" if method == "HEAD" else method
    return (method, path) in API or is_page(method, path)
