"""`docker compose up -d --wait`: everything healthy, again and again the same."""

from __future__ import annotations

import pytest

from tests.demo.client import Client
from tests.stack.stack import LONG_LIVED, ONE_SHOTS, Stack


@pytest.mark.req("P1")
def test_every_service_is_healthy_after_up(stack: Stack) -> None:
    assert {service: stack.is_healthy(service) for service in LONG_LIVED} == dict.fromkeys(LONG_LIVED, True)


@pytest.mark.req("P1")
def test_one_shots_ended_well_and_stay_ended(stack: Stack) -> None:
    states = {service: stack.inspect(service)["State"] for service in ONE_SHOTS}
    assert {service: (state["Status"], state["ExitCode"]) for service, state in states.items()} == dict.fromkeys(ONE_SHOTS, ("exited", 0))


@pytest.mark.req("STK-5")
def test_up_a_second_time_changes_nothing(stack: Stack, client: Client) -> None:
    before = {service: (stack.id(service), stack.inspect(service)["State"]["StartedAt"]) for service in LONG_LIVED}
    key = stack.sh("api", "sha256sum /run/handrail/secrets/*").out
    stack.up()
    assert {service: (stack.id(service), stack.inspect(service)["State"]["StartedAt"]) for service in LONG_LIVED} == before
    assert stack.sh("api", "sha256sum /run/handrail/secrets/*").out == key
    assert client.get("/api/status/detail")["success"] is True


@pytest.mark.req("STK-2")
def test_the_api_is_published_on_loopback_and_nothing_else_is(stack: Stack) -> None:
    published = {service: stack.inspect(service)["NetworkSettings"]["Ports"] for service in LONG_LIVED}
    assert published.pop("api") == {"18910/tcp": [{"HostIp": "127.0.0.1", "HostPort": str(stack.port)}]}
    assert {service: [bind for binds in ports.values() for bind in binds or ()] for service, ports in published.items()} == {
        service: [] for service in published
    }
