"""SIGKILL to each container in the middle of work: it comes back, and nothing that was acknowledged is lost."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from tests.demo.client import Client, WireError
from tests.stack.client import work_root
from tests.stack.stack import LONG_LIVED, Stack
from tests.support.wait import until

AUDITED = Path(__file__).parent / "inside" / "audited.py"
BEFORE_KILL = 10  # acknowledged writes
PATIENCE_S = 60


@dataclass
class Writing:
    """Files that the stack said it has written: path -> content."""

    root: str
    acknowledged: dict[str, str] = field(default_factory=dict[str, str])
    refused: int = 0


@contextmanager
def writing(client: Client, name: str) -> Generator[Writing]:
    """One write after the other in the background, whatever happens to the stack meanwhile."""
    work = Writing(f"{work_root(client)}/kill-{name}")
    client.post("/api/fs/mkdir", path=work.root)
    end = threading.Event()

    def write_on() -> None:
        number = 0
        while not end.is_set():
            number += 1
            path, content = f"{work.root}/{number}.txt", f"{name} {number}"
            try:
                client.post("/api/fs/write", path=path, content=content)
            except (WireError, httpx.HTTPError):
                work.refused += 1
                end.wait(0.05)
            else:
                work.acknowledged[path] = content

    thread = threading.Thread(target=write_on)
    thread.start()
    try:
        yield work
    finally:
        end.set()
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


def audited(stack: Stack) -> dict[str, set[str]]:
    """Action -> paths of the audit rows about files, as the database has them."""
    return {action: set(paths) for action, paths in stack.python("api", AUDITED).items()}


@pytest.mark.req("ATK-61", "STK-10")
@pytest.mark.parametrize("service", LONG_LIVED)
def test_a_killed_container_comes_back_and_nothing_acknowledged_is_lost(stack: Stack, client: Client, service: str) -> None:
    with writing(client, service) as work:
        until(lambda: len(work.acknowledged) >= BEFORE_KILL, "writes are acknowledged", PATIENCE_S)
        stack.kill(service)
        until(lambda: stack.is_healthy("api"), "the api is ready", PATIENCE_S)
        so_far = len(work.acknowledged)
        until(lambda: len(work.acknowledged) >= so_far + BEFORE_KILL, "writes go on", PATIENCE_S)
    for path, content in work.acknowledged.items():
        assert client.post("/api/fs/read", path=path)["content"] == content
    # the row before the effect and the row of its outcome
    rows = audited(stack)
    assert set(work.acknowledged) - rows["minted"] == set()
    assert set(work.acknowledged) - rows["write"] == set()
    assert client.run("echo alive", work.root)["stdout"] == "alive\n"
    verified = stack.compose("exec", "-T", "api", "handrail", "audit", "verify")
    assert verified.code == 0, verified.out + verified.err


@pytest.mark.req("ATK-61")
def test_a_command_that_was_running_in_a_killed_sandbox_is_not_run_again(stack: Stack, client: Client) -> None:
    root = work_root(client)
    client.post("/api/fs/write", path=f"{root}/runs.txt", content="")
    client.post("/api/exec", command="echo started >> runs.txt && sleep 600", cwd=root)
    until(lambda: client.post("/api/fs/read", path=f"{root}/runs.txt")["content"] == "started\n", "the command runs", 20)
    stack.kill("sandbox")
    until(lambda: stack.is_healthy("api"), "the api is ready", PATIENCE_S)
    assert client.run("true", root)["exitCode"] == 0
    assert client.post("/api/fs/read", path=f"{root}/runs.txt")["content"] == "started\n"
    assert client.get("/api/status/detail")["runningProcesses"] == []
