"""The web page: static files of our own, no third-party address, strict policy."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from fastapi import Request
from starlette.responses import Response

from handrail.api.http import Router
from handrail.contract.errors import UnknownPath
from handrail.kit.assets import asset_dir

router = Router(tags=["page"])
ROOT = asset_dir("services/web")
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "no-cache",
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
}


@router.get("/", include_in_schema=False)
async def index(request: Request) -> Response:
    """The start page: what runs, how to pair."""
    return _file("index.html")


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> Response:
    """The HTTP API, drawn from /openapi.json."""
    return _file("docs.html")


@router.get("/favicon.ico", include_in_schema=False)
async def favicon(request: Request) -> Response:
    """The icon."""
    return _file("icon.svg")


@router.get("/web/{name}", include_in_schema=False)
async def asset(request: Request, name: str) -> Response:
    """A file of the page; only names that ship with it."""
    return _file(name)


def _file(name: str) -> Response:
    content = _assets().get(name)
    if content is None:
        raise UnknownPath
    return Response(content, media_type=TYPES[Path(name).suffix], headers=HEADERS)


@lru_cache(maxsize=1)
def _assets() -> dict[str, bytes]:
    """Every shipped file by name, read once."""
    return {path.name: path.read_bytes() for path in ROOT.iterdir() if path.suffix in TYPES}
