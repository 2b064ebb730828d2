"""A remote dev box: the client's port is the tunnel's, not the service's."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx
import pytest

from tests.demo.client import Client
from tests.demo.embedded import Running, running_handrail
from tests.integration.tunnel.ssh import running_sshd, tunnel
from tests.support.places import reachable_dir


@dataclass(frozen=True)
class Remote:
    """A Handrail and the local port through which the tunnel reaches it."""

    handrail: Running
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@pytest.fixture(scope="module")
def remote() -> Generator[Remote]:
    """The embedded form behind a real `ssh -L`."""
    with reachable_dir("hr-ssh-") as base, running_handrail() as handrail:
        own = urlsplit(handrail.url).port or 0
        with running_sshd(base, forward_to=own) as sshd_port, tunnel(base, sshd_port=sshd_port, to=own) as port:
            assert port != own
            yield Remote(handrail, port)


@pytest.fixture(scope="module")
def client(remote: Remote) -> Generator[Client]:
    """A device that was paired through the tunnel and knows no other address."""
    with Client(remote.url) as it:
        it.pair(remote.handrail.paircode(), "tunnel-test")
        yield it


@pytest.mark.req("TUN-1")
def test_a_command_runs_through_the_tunnel_and_its_output_comes_by_the_tunnels_port(remote: Remote, client: Client) -> None:
    started = client.post("/api/exec", command="echo through the tunnel", cwd=str(remote.handrail.workdir))
    address = urlsplit(started["wsUrl"])
    assert (address.scheme, address.hostname, address.port) == ("ws", "127.0.0.1", remote.port)
    frames = list(client.stream("echo out; echo err >&2; exit 4", str(remote.handrail.workdir)))
    assert "".join(frame["data"] for frame in frames if frame["type"] == "stdout") == "out\n"
    assert "".join(frame["data"] for frame in frames if frame["type"] == "stderr") == "err\n"
    assert frames[-1]["exitCode"] == 4


@pytest.mark.req("TUN-1")
def test_files_work_through_the_tunnel(remote: Remote, client: Client) -> None:
    path = f"{remote.handrail.workdir}/remote.txt"
    client.post("/api/fs/write", path=path, content="far away")
    assert client.post("/api/fs/read", path=path)["content"] == "far away"


@pytest.mark.req("TUN-1")
def test_the_name_localhost_works_too_and_keeps_its_port(remote: Remote) -> None:
    with Client(f"http://localhost:{remote.port}") as other:
        other.pair(remote.handrail.paircode(), "tunnel-localhost")
        started = other.post("/api/exec", command="true", cwd=str(remote.handrail.workdir))
    assert urlsplit(started["wsUrl"]).netloc == f"localhost:{remote.port}"


@pytest.mark.req("TUN-1")
def test_a_foreign_host_name_through_the_tunnel_is_refused(remote: Remote) -> None:
    answer = httpx.get(f"{remote.url}/api/status", headers={"Host": f"evil.example:{remote.port}"})
    assert answer.status_code == 421
