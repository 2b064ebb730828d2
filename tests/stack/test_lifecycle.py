"""Stop and restart over HTTP, in a form where the engine starts everything again that ends."""

from __future__ import annotations

import pytest

from tests.demo.client import Client
from tests.stack.stack import Stack
from tests.support.wait import until

COOL_DOWN_S = 30  # the api takes one such request each 10 s


def ask(client: Client, path: str) -> None:
    assert client.post(path)["success"] is True


def listens(stack: Stack) -> bool:
    """Whether the api itself listens; the engine's proxy on the host always does."""
    return stack.sh("api", "exec 3<>/dev/tcp/edge.handrail/18910").code == 0


@pytest.mark.req("STK-12")
def test_a_restart_over_http_comes_back_by_itself(stack: Stack, client: Client) -> None:
    before = stack.inspect("api")["RestartCount"]
    ask(client, "/api/agent/restart")
    until(lambda: stack.inspect("api")["RestartCount"] > before, "the engine starts it again", COOL_DOWN_S)
    until(lambda: stack.is_healthy("api"), "the api is healthy", 60)
    assert client.get("/api/status/detail")["success"] is True


@pytest.mark.req("STK-12")
def test_a_shutdown_over_http_lasts_until_the_operator_restarts(stack: Stack, client: Client) -> None:
    before = stack.inspect("api")
    ask(client, "/api/shutdown")
    until(lambda: not listens(stack), "the api has stopped", COOL_DOWN_S)
    until(lambda: "stopped over HTTP" in stack.logs("api", tail=20), "it says how to start again", 10)
    after = stack.inspect("api")
    assert (after["State"]["StartedAt"], after["RestartCount"]) == (before["State"]["StartedAt"], before["RestartCount"])
    assert stack.compose("restart", "api").code == 0
    until(lambda: stack.is_healthy("api"), "the api is healthy", 60)
    assert client.get("/api/status/detail")["success"] is True


@pytest.mark.req("STK-12")
@pytest.mark.parametrize("service", ["api", "worker", "beat", "sandbox", "broker", "db"])
def test_every_container_stops_cleanly_within_its_time(stack: Stack, service: str) -> None:
    done = stack.compose("stop", service, timeout_s=90)
    state = stack.inspect(service)["State"]
    assert stack.compose("start", service).code == 0
    until(lambda: stack.is_healthy(service), f"{service} is healthy", 60)
    until(lambda: stack.is_healthy("api"), "the api is ready", 60)
    assert done.code == 0
    assert (state["ExitCode"], state["OOMKilled"]) in {(0, False), (143, False)}, "137 would mean that it had to be killed"
