"""The stack, built and started once a session. A missing Docker is a failure with a hint, never a skip."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.demo.client import Client
from tests.stack.client import paired
from tests.stack.stack import Stack, free_port, run

HERE = Path(__file__).parent
FAULT = re.compile(r"(?i)traceback|error|fatal|panic|request failed")
PATIENCE_S = 900  # of one test: the first one builds the images


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The common time-out is for tests that need no containers."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.timeout(PATIENCE_S))


def keep_logs(stack: Stack) -> str:
    """Write what all containers said to a file that outlives the test run; the end of it and what looks like a fault."""
    text = stack.logs(tail=20_000)
    fd, name = tempfile.mkstemp(prefix="handrail-stack-", suffix=".log")
    with os.fdopen(fd, "w", encoding="utf-8") as stream:
        stream.write(text)
    lines = text.splitlines()
    faults = [line for line in lines if FAULT.search(line)]
    return "\n".join([f"\nLogs of all containers: {name}", *faults[-40:], "...", *lines[-20:]])


@pytest.fixture(scope="session")
def stack(request: pytest.FixtureRequest) -> Generator[Stack]:
    """The stack as `docker compose up -d --wait` makes it on a clean clone, under a project name and port of its own."""
    engine = run(["docker", "info", "--format", "{{.ServerVersion}}"])
    assert engine.code == 0, f"Docker does not answer; the stack tests need an engine with compose: {engine.err}"
    it = Stack(f"handrail-test-{os.getpid()}", {"HANDRAIL_PUBLISH_PORT": str(free_port())})
    try:
        built = it.compose("build", timeout_s=PATIENCE_S)
        assert built.code == 0, built.err[-5000:]
        it.up()
        yield it
        if request.session.testsfailed:
            print(keep_logs(it))
    finally:
        down = it.compose("down", "--volumes", "--timeout", "20", timeout_s=180)
    assert down.code == 0, down.err
    assert it.leftovers() == {}, "down --volumes leaves something behind"


@pytest.fixture(scope="module")
def client(stack: Stack) -> Generator[Client]:
    """A paired device."""
    with paired(stack) as it:
        yield it
