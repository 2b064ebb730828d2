"""The stack, built and started once a session. A missing Docker is a failure with a hint, never a skip."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.demo.client import Client
from tests.stack.client import paired
from tests.stack.stack import Stack, free_port, run

HERE = Path(__file__).parent
PATIENCE_S = 900  # of one test: the first one builds the images


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The common time-out is for tests that need no containers."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.timeout(PATIENCE_S))


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
            print(f"\n{it.logs(tail=150)}")
    finally:
        down = it.compose("down", "--volumes", "--timeout", "20", timeout_s=180)
    assert down.code == 0, down.err
    assert it.leftovers() == {}, "down --volumes leaves something behind"


@pytest.fixture(scope="module")
def client(stack: Stack) -> Generator[Client]:
    """A paired device."""
    with paired(stack) as it:
        yield it
