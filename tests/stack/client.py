"""A device of the stack. Nothing but HTTP and WebSocket, and the pairing code that the operator reads in the container."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from tests.demo.client import Client, WireError
from tests.stack.stack import Stack
from tests.support.wait import until

RETRY = (400, 429)  # the code changed a moment ago; too many devices paired a moment ago


def pairing_code(stack: Stack) -> str:
    """`docker compose exec api handrail paircode --json`."""
    shown = stack.compose("exec", "-T", "api", "handrail", "paircode", "--json")
    assert shown.code == 0, shown.err + shown.out
    return str(json.loads(shown.out)["code"])


@contextmanager
def paired(stack: Stack) -> Generator[Client]:
    """A new device of the stack's owner. A code may have been used or changed a moment ago: then the next one is tried."""
    with Client(stack.url) as client:

        def attempt() -> bool:
            try:
                client.pair(pairing_code(stack), "stack-test")
            except WireError as exc:
                if exc.status not in RETRY:
                    raise
                return False
            return True

        until(attempt, "a device pairs", 60)
        yield client


def work_root(client: Client) -> str:
    return str(client.get("/api/status/detail")["workdir"])


def run_as_confirmed(client: Client, command: str, cwd: str) -> dict[str, Any]:
    """Run a command that policy may ask about: ask, and repeat the same call as a user who says yes."""
    asked = client.post("/api/exec", command=command, cwd=cwd, wait=True)
    if asked["level"] != "confirm":
        return asked
    return client.post("/api/exec", command=command, cwd=cwd, wait=True, force=True)


def audit(client: Client, category: str) -> list[dict[str, Any]]:
    """The newest audit rows of one category."""
    return client.post("/api/logs/query", category=category, limit=500)["entries"]
