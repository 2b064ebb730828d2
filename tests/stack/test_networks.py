"""Every edge between zones that is not needed fails to connect; the needed ones connect, so the probe itself is proven."""

from __future__ import annotations

import json
import socket
from collections.abc import Generator, Iterable
from contextlib import contextmanager

import pytest

from tests.stack.stack import LONG_LIVED, Stack, run

DATA = ("api", "worker", "beat", "db", "broker")
CLOSED = ("worker", "beat", "db", "broker", "sandbox")  # no way out of the stack
PATIENCE_S = 3


def reached(stack: Stack, source: str, targets: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Those of the targets to which a TCP connection from inside the container succeeds, all tried at once.

    bash has /dev/tcp, so no image needs a tool for it. A connection that hangs counts as failed.
    """
    tries = [
        f"(timeout {PATIENCE_S} bash -c 'exec 3<>/dev/tcp/{host}/{port}' 2>/dev/null && echo {host} {port}) &" for host, port in targets
    ]
    lines = stack.sh(source, "\n".join([*tries, "wait"])).out.splitlines()
    return sorted((host, int(port)) for host, port in (line.split() for line in lines))


def connects(stack: Stack, source: str, host: str, port: int) -> bool:
    return reached(stack, source, [(host, port)]) == [(host, port)]


def addresses(stack: Stack, service: str) -> list[str]:
    """All IPv4 addresses of the service's container."""
    return [net["IPAddress"] for net in stack.inspect(service)["NetworkSettings"]["Networks"].values() if net["IPAddress"]]


def gateways(stack: Stack) -> list[str]:
    """Where the host may be reachable from containers: the gateway of each network of the stack and of the default bridge."""
    names = [f"{stack.project}_edge", f"{stack.project}_data", "bridge"]
    networks = json.loads(run(["docker", "network", "inspect", *names]).out)
    return [config["Gateway"] for network in networks for config in network["IPAM"]["Config"] if config.get("Gateway")]


def host_address() -> str:
    """The host's address towards the outside; no packet is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect(("192.0.2.254", 9))
        return sock.getsockname()[0]


@contextmanager
def listener() -> Generator[int]:
    """A careless service of the host: it listens on every address. Yields its port."""
    with socket.create_server(("0.0.0.0", 0), backlog=64) as server:
        yield server.getsockname()[1]


@pytest.mark.req("H13", "P2")
@pytest.mark.parametrize(
    ("source", "target", "port"),
    [("api", "db", 5432), ("api", "broker", 6379), ("worker", "db", 5432), ("worker", "broker", 6379), ("beat", "broker", 6379)],
)
def test_needed_edges_connect(stack: Stack, source: str, target: str, port: int) -> None:
    assert connects(stack, source, target, port)


@pytest.mark.req("H13", "P2")
@pytest.mark.parametrize("source", ["worker", "beat", "db", "broker", "sandbox"])
def test_nobody_in_the_stack_can_call_the_api(stack: Stack, source: str) -> None:
    assert addresses(stack, "api"), "the api has addresses"
    assert reached(stack, source, [(host, 18910) for host in (*addresses(stack, "api"), "api", "edge.handrail")]) == []


@pytest.mark.req("H13", "P2")
def test_the_sandbox_reaches_nothing(stack: Stack) -> None:
    targets = [(address, port) for service in DATA for address in addresses(stack, service) for port in (5432, 6379, 18910)]
    assert len(targets) > len(DATA)
    assert reached(stack, "sandbox", targets) == []


@pytest.mark.req("H13", "P2")
def test_the_sandbox_has_no_interface_but_loopback_and_no_listener(stack: Stack) -> None:
    assert stack.inspect("sandbox")["HostConfig"]["NetworkMode"] == "none"
    assert stack.sh("sandbox", "ls /sys/class/net").out.split() == ["lo"]
    assert stack.sh("sandbox", "tail -n +2 /proc/net/route; tail -n +2 /proc/net/tcp").out == ""


@pytest.mark.req("H13", "P2")
def test_nobody_reaches_the_sandbox_or_the_worker_over_the_network(stack: Stack) -> None:
    assert addresses(stack, "sandbox") == []
    for service in ("worker", "beat"):
        listening = [line for line in stack.sh(service, "cat /proc/net/tcp /proc/net/tcp6").out.splitlines() if " 0A " in line]
        # Docker's own resolver listens on 127.0.0.11 (0B00007F) in each container of a network
        assert [line for line in listening if "0B00007F:" not in line] == []


@pytest.mark.req("H13", "P2")
@pytest.mark.parametrize("source", CLOSED)
def test_closed_zones_cannot_reach_the_host_at_any_of_its_addresses(stack: Stack, source: str) -> None:
    with listener() as port:
        hosts = [*gateways(stack), host_address()]
        with socket.create_connection((host_address(), port), PATIENCE_S):
            pass  # the listener is really there
        assert reached(stack, source, [(host, number) for host in hosts for number in (port, stack.port)]) == []


@pytest.mark.req("H13", "P2")
@pytest.mark.parametrize("source", CLOSED)
def test_closed_zones_have_no_route_out_and_no_names_of_outside(stack: Stack, source: str) -> None:
    routes = stack.sh(source, "cat /proc/net/route").out.splitlines()[1:]
    assert [line for line in routes if line.split()[1] == "00000000"] == [], "a default route"
    assert not connects(stack, source, "1.1.1.1", 443)
    assert stack.sh(source, "timeout 10 getent hosts deb.debian.org").code != 0


@pytest.mark.req("H13", "P2")
def test_zones_of_each_service(stack: Stack) -> None:
    networks = {service: sorted(stack.inspect(service)["NetworkSettings"]["Networks"]) for service in LONG_LIVED}
    edge, data = f"{stack.project}_edge", f"{stack.project}_data"
    assert networks == {"api": [data, edge], "worker": [data], "beat": [data], "db": [data], "broker": [data], "sandbox": ["none"]}


@pytest.mark.req("H13")
@pytest.mark.parametrize("source", ["api", "worker"])
def test_db_and_broker_answer_nobody_without_a_password(stack: Stack, source: str) -> None:
    asked = stack.sh(source, "exec 3<>/dev/tcp/broker/6379; printf 'KEYS *\\r\\n' >&3; head -n 1 <&3")
    assert asked.out.startswith("-NOAUTH"), asked
    refused = stack.sh(
        "db", "psql -w -h /run/postgresql -U postgres -c 'select 1'; psql -w -h db -U handrail_api -d handrail -c 'select 1'"
    )
    assert refused.out == ""
    assert refused.err.count("fe_sendauth: no password supplied") == 2, refused.err
