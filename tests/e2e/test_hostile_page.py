"""A web page that the user happens to visit attacks the service on loopback, in a real browser."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import Browser

from tests.demo.client import Client
from tests.demo.embedded import Running
from tests.e2e.conftest import watched

ATTEMPT = """async ([url, options]) => {
  try {
    const answer = await fetch(url, options);
    return { type: answer.type, status: answer.status, text: answer.type === 'opaque' ? '' : await answer.text() };
  } catch (error) { return { failed: String(error) }; }
}"""


def alive(handrail: Running) -> bool:
    return httpx.get(handrail.url + "/api/status", trust_env=False).status_code == 200


@pytest.mark.req("PF-A1", "ATK-48", "A18", "B8")
def test_a_web_page_cannot_stop_the_service(browser: Browser, handrail: Running, foreign_page: str) -> None:
    seen = watched(browser)
    seen.page.goto(foreign_page)
    for options in ({"method": "POST", "mode": "no-cors"}, {"method": "POST"}, {"method": "POST", "mode": "no-cors", "body": "{}"}):
        result = seen.page.evaluate(ATTEMPT, [handrail.url + "/api/shutdown", options])
        assert result.get("failed") or result["type"] == "opaque" or result["status"] == 403, result
    assert alive(handrail)


@pytest.mark.req("PF-A2", "ATK-49", "B1")
def test_a_web_page_cannot_use_up_the_pairing_tries(browser: Browser, handrail: Running, foreign_page: str) -> None:
    seen = watched(browser)
    seen.page.goto(foreign_page)
    body = '{"code":"000000","extensionId":"x"}'
    for _ in range(12):
        seen.page.evaluate(ATTEMPT, [handrail.url + "/api/pair", {"method": "POST", "mode": "no-cors", "body": body}])
    with Client(handrail.url) as client:
        client.pair(handrail.paircode(), "after the attack")
        assert client.get("/api/status/detail")["success"] is True


@pytest.mark.req("ATK-48", "PF-A3")
def test_a_web_page_can_read_nothing(browser: Browser, handrail: Running, foreign_page: str) -> None:
    seen = watched(browser)
    seen.page.goto(foreign_page)
    for path in ("/api/status", "/readyz", "/openapi.json", "/api/status/detail"):
        result = seen.page.evaluate(ATTEMPT, [handrail.url + path, {}])
        assert "failed" in result, (path, result)


@pytest.mark.req("ATK-47")
def test_a_web_page_cannot_open_a_websocket_even_with_a_token(browser: Browser, handrail: Running, foreign_page: str) -> None:
    with Client(handrail.url) as client:
        client.pair(handrail.paircode(), "victim")
        started = client.post("/api/exec", command="sleep 20")
        token = client.token
        seen = watched(browser)
        seen.page.goto(foreign_page)
        outcome = seen.page.evaluate(
            """url => new Promise(done => {
              const socket = new WebSocket(url);
              socket.onopen = () => done('open');
              socket.onerror = () => done('refused');
            })""",
            f"{started['wsUrl']}?token={token}",
        )
        assert outcome == "refused"
        assert client.post("/api/exec/stop", execId=started["execId"])["success"] is True


@pytest.mark.req("B8")
def test_our_own_page_may_use_the_api_with_a_token(browser: Browser, handrail: Running) -> None:
    with Client(handrail.url) as client:
        client.pair(handrail.paircode(), "page")
        seen = watched(browser)
        seen.page.goto(handrail.url)
        headers = {"Authorization": f"Bearer {client.token}", "Content-Type": "application/json"}
        result = seen.page.evaluate(ATTEMPT, [handrail.url + "/api/fs/list", {"method": "POST", "headers": headers, "body": "{}"}])
        assert result["status"] == 200, result
