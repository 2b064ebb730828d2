"""The api's side of the sandbox protocol: one client a process, connections kept open on the Unix socket."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from handrail.api.processes.errors import SandboxRefused, refusal
from handrail.contract import sandbox as wire
from handrail.contract.errors import ServiceUnavailable
from handrail.kit.http import Client, Target

ANSWER_S = 10.0  # for calls that do not wait for a command
GRACE_S = 15.0  # on top of a command's time-out: killing its tree and sending the answer


class SandboxClient:
    """Calls the sandbox with tokens that the gate has minted."""

    def __init__(self, socket: Path) -> None:
        self._client = Client(Target("sandbox", socket=str(socket)))

    async def run(self, token: str, arguments: Mapping[str, Any]) -> wire.RunAnswer:
        """Start a command, wait for its end if the arguments say so.

        Raises ServiceUnavailable (whether it ran is not known when the connection broke later on) or the sandbox's refusal.
        """
        patience = arguments["timeout_ms"] / 1000 + GRACE_S if arguments["wait"] else ANSWER_S
        return cast("wire.RunAnswer", await self._call(wire.PATH_RUN, {"token": token, "arguments": dict(arguments)}, patience))

    async def output(self, token: str, exec_id: str, cursor: int, wait_ms: int) -> wire.OutputAnswer:
        """A page of output from byte `cursor` on; waits up to `wait_ms` for one. Raises as `run`."""
        body = {"token": token, "arguments": {"exec_id": exec_id}, "cursor": cursor, "wait_ms": wait_ms}
        return cast("wire.OutputAnswer", await self._call(wire.PATH_READ, body, wait_ms / 1000 + ANSWER_S))

    async def ended(self, token: str, exec_id: str, wait_ms: int) -> wire.Outcome:
        """How it stands with a command, after waiting up to `wait_ms` for its end. Raises as `run`."""
        body = {"token": token, "arguments": {"exec_id": exec_id}, "wait_ms": wait_ms}
        return cast("wire.Outcome", await self._call(wire.PATH_ENDED, body, wait_ms / 1000 + ANSWER_S))

    async def stop(self, token: str, exec_id: str) -> wire.Outcome:
        """Kill a command's tree; answers when it is dead. Raises as `run`."""
        return cast("wire.Outcome", await self._call(wire.PATH_STOP, {"token": token, "arguments": {"exec_id": exec_id}}, ANSWER_S))

    async def processes(self, token: str) -> list[wire.ProcessRow]:
        """The user's running commands in the workspace of the token. Raises as `run`."""
        answer = await self._call(wire.PATH_LIST, {"token": token, "arguments": {}}, ANSWER_S)
        return cast("list[wire.ProcessRow]", answer["processes"])

    async def health(self) -> wire.HealthAnswer:
        """What confines commands there. Raises ServiceUnavailable."""
        answer = await self._client.call("GET", wire.PATH_HEALTH, timeout_s=ANSWER_S)
        if answer.status != 200:  # noqa: PLR2004 - HTTP
            raise ServiceUnavailable(service="sandbox")
        return cast("wire.HealthAnswer", answer.json())

    async def ready(self) -> None:
        """Returns when the sandbox answers. Raises ServiceUnavailable."""
        await self.health()

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _call(self, path: str, body: object, patience: float) -> dict[str, Any]:
        answer = await self._client.call("POST", path, body, timeout_s=patience)
        content: dict[str, Any] = answer.json()
        if answer.status == 200:  # noqa: PLR2004 - HTTP
            return content
        raise refusal(answer.status, content)


__all__ = ["SandboxClient", "SandboxRefused"]
