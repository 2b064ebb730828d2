"""The start page in a real browser."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import Browser, expect

from tests.demo.embedded import Running
from tests.e2e.conftest import watched


@pytest.mark.req("O2")
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_shows_the_state_and_how_to_pair(
    browser: Browser, handrail: Running, width: int, scheme: Literal["light", "dark"]
) -> None:
    seen = watched(browser, width=width, scheme=scheme)
    seen.page.goto(handrail.url)
    expect(seen.page.locator("#state")).to_have_text("Ready")
    for part in ("database", "broker", "audit", "sandbox"):
        expect(seen.page.locator("#parts li", has_text=part)).to_have_class("good")
    expect(seen.page.locator("#address")).to_have_text(handrail.url)
    expect(seen.page.locator("#version")).to_contain_text("Handrail")
    overflow = seen.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0, "nothing is wider than the window"
    assert seen.complaints == []


def test_the_page_speaks_chinese_and_english(browser: Browser, handrail: Running) -> None:
    seen = watched(browser, locale="zh-CN")
    seen.page.goto(handrail.url)
    expect(seen.page.locator("#state")).to_have_text("就绪")
    seen.page.get_by_role("button", name="English").click()
    expect(seen.page.locator("#state")).to_have_text("Ready")
    assert seen.page.evaluate("document.documentElement.lang") == "en"


@pytest.mark.req("P14", "ATK-50")
def test_the_pages_ask_nobody_but_us(browser: Browser, handrail: Running) -> None:
    seen = watched(browser)
    for path in ("/", "/docs"):
        seen.page.goto(handrail.url + path)
    expect(seen.page.locator("#operations details").first).to_be_visible()
    assert {url.split("/", 3)[2] for url in seen.asked} == {handrail.url.removeprefix("http://")}
    assert seen.complaints == []


def test_the_api_document_can_be_filtered(browser: Browser, handrail: Running) -> None:
    seen = watched(browser)
    seen.page.goto(handrail.url + "/docs")
    expect(seen.page.locator("#operations details").first).to_be_visible()
    every = seen.page.locator("#operations details:visible").count()
    seen.page.get_by_label("Filter").fill("/api/exec")
    shown = seen.page.locator("#operations details:visible")
    expect(shown.first).to_be_visible()
    assert 0 < shown.count() < every


@pytest.mark.req("PG-34", "ATK-53")
def test_another_page_cannot_frame_ours(browser: Browser, handrail: Running, foreign_page: str) -> None:
    seen = watched(browser)
    seen.page.goto(foreign_page)
    seen.page.evaluate("url => { const f = document.createElement('iframe'); f.src = url; document.body.append(f); }", handrail.url)
    frame = seen.page.locator("iframe")
    expect(frame).to_be_attached()
    inside = seen.page.frame_locator("iframe").locator("#state")
    expect(inside).to_have_count(0)
