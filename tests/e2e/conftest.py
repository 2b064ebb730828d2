"""A real Handrail, Debian's Chromium, and a foreign web page on another port of the same machine."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Generator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.demo.embedded import Running, running_handrail

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
)


@pytest.fixture(scope="session")
def handrail() -> Generator[Running]:
    with running_handrail() as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Generator[Browser]:
    path = shutil.which("chromium")
    assert path, "the browser tests need Debian's chromium: apt-get install chromium"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield chromium
        chromium.close()


@dataclass
class Watched:
    """A page with everything it complained about and every address it asked."""

    page: Page
    complaints: list[str] = field(default_factory=list[str])
    asked: list[str] = field(default_factory=list[str])


def watched(browser: Browser, *, width: int = 1280, scheme: Literal["light", "dark"] = "light", locale: str = "en-US") -> Watched:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, locale=locale)
    found = Watched(context.new_page())
    found.page.on("console", lambda message: found.complaints.append(message.text) if message.type in ("error", "warning") else None)
    found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
    found.page.on("request", lambda request: found.asked.append(request.url))
    return found


class _Foreign(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>somewhere else</title>")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """Quiet."""


@pytest.fixture(scope="session")
def foreign_page() -> Generator[str]:
    """The address of a web page that is not ours."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Foreign)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    thread.join()
    server.server_close()
