"""The process tools of the registry: Bash for everybody, the others for the wire's routes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Mapping
from typing import Any

from handrail.api.context import Actor
from handrail.api.processes.client import SandboxClient
from handrail.api.processes.errors import BadDirectory
from handrail.api.processes.schemas import BashArgs, NoArgs, ProcessArgs, ReadArgs
from handrail.api.settings import ApiSettings
from handrail.api.tools.registry import Invocation, Permit, Result, Tool
from handrail.contract import sandbox as wire
from handrail.contract.errors import ServiceUnavailable
from handrail.kit.redact import redact
from handrail.policy import Context, Verdict, check

AWAY_S, AWAY_TRIES = 1.0, 30  # how long a sandbox may be away before the end of a command counts as not seen
SHOWN = 2000  # characters of a command in an audit row or on an approval card
ABOUT = (
    "Run a command with bash in the workspace's sandbox and return its exit code, stdout and stderr. Files outside the work root cannot be "
    "changed, the network is off unless the operator has switched it on, stdin is empty. The whole process tree ends with the command."
)


def tools(sandbox: SandboxClient, settings: ApiSettings) -> tuple[Tool, ...]:
    """Bash, ProcessStop, ProcessRead and ProcessList, bound to this sandbox."""

    async def run_bash(call: Invocation) -> Result:
        return shape(await sandbox.run(_token(call), call.arguments))

    def until_end(_call: Invocation, result: Result, permit: Permit) -> Awaitable[Result] | None:
        return _watch(sandbox, str(result["execId"]), permit) if result["state"] == "running" else None

    async def stop(call: Invocation) -> Result:
        return shape(await sandbox.stop(_token(call), call.args.exec_id))

    async def read(call: Invocation) -> Result:
        if call.args.attach:
            return {"token": _token(call)}
        return dict(await sandbox.output(_token(call), call.args.exec_id, call.args.cursor, call.args.wait_ms))

    async def processes(call: Invocation) -> Result:
        return {"processes": await sandbox.processes(_token(call))}

    def bind(actor: Actor, args: BashArgs) -> Mapping[str, Any]:
        return run_arguments(actor, args, settings.command_timeout)

    def judge(actor: Actor, args: BashArgs) -> Verdict:
        home = settings.data_dir / "homes" / actor.workspace.id / "home"
        root = actor.workspace.root
        return check(args.command, Context(directory(actor, args.cwd), str(home), root, str(settings.data_dir)))

    return (
        Tool(
            name=wire.TOOL_RUN,
            description=ABOUT,
            args=BashArgs,
            effect="exec",
            executor="sandbox",
            category="exec",
            before="started",
            action="completed",
            run=run_bash,
            later=until_end,
            summary=summary,
            judge=judge,
            bind=bind,
            title={"en": "Run command", "zh": "运行命令"},
        ),
        Tool(
            name=wire.TOOL_STOP,
            description="Stop a command and its whole process tree.",
            args=ProcessArgs,
            effect="exec",
            executor="sandbox",
            category="exec",
            action="stopped",
            run=stop,
            summary=_exec_id,
            listed=False,
        ),
        Tool(
            name=wire.TOOL_READ,
            description="Read a command's output.",
            args=ReadArgs,
            effect="read",
            executor="sandbox",
            category="exec",
            action="output",
            run=read,
            summary=_exec_id,
            bind=lambda _actor, args: {"exec_id": args.exec_id},
            listed=False,
        ),
        Tool(
            name=wire.TOOL_LIST,
            description="List the running commands.",
            args=NoArgs,
            effect="read",
            executor="sandbox",
            category="exec",
            action="list",
            run=processes,
            listed=False,
        ),
    )


async def _watch(sandbox: SandboxClient, exec_id: str, permit: Permit) -> Result:
    """Wait for a command's end. A sandbox that is away for a moment is asked again; one that forgot the command ends it."""
    arguments = {"exec_id": exec_id}
    failures = 0
    while True:
        try:
            outcome = await sandbox.ended(permit(wire.TOOL_READ, arguments), exec_id, wire.MAX_WAIT_MS)
        except ServiceUnavailable:
            failures += 1
            if failures > AWAY_TRIES:
                raise
            await asyncio.sleep(AWAY_S)
            continue
        failures = 0
        if outcome["exit_code"] is not None:
            return shape(outcome)


def directory(actor: Actor, cwd: str | None) -> str:
    """The working directory as an absolute path below the work root or an allowed path. Raises BadDirectory (403).

    This is about the name; the sandbox resolves links and the command's own process checks where it really is.
    """
    root = actor.workspace.root
    if not cwd:
        return root
    path = os.path.normpath(root + "/" + cwd) if not cwd.startswith("/") else os.path.normpath(cwd)
    if path.startswith("//"):
        path = path[1:]
    if not any(path == allowed or path.startswith(allowed.rstrip("/") + "/") for allowed in (root, *actor.workspace.allowed_paths)):
        raise BadDirectory(detail=f"{cwd[:200]!r} is outside the work root")
    return path


def run_arguments(actor: Actor, args: BashArgs, default_timeout_ms: int) -> dict[str, Any]:
    """What the sandbox gets and the token binds: the roots come from the workspace, never from the client."""
    return {
        "command": args.command,
        "cwd": directory(actor, args.cwd),
        "root": actor.workspace.root,
        "extra_roots": [path for path in actor.workspace.allowed_paths if path != actor.workspace.root],
        "timeout_ms": args.timeout_ms or default_timeout_ms,
        "wait": args.wait,
    }


def summary(args: BashArgs) -> dict[str, object]:
    """The command with secrets masked, and where."""
    shown: dict[str, object] = {"command": redact(args.command[:SHOWN])}
    if args.cwd:
        shown["cwd"] = args.cwd[:SHOWN]
    return shown


def shape(outcome: Mapping[str, Any]) -> Result:
    """The sandbox's fields under the names that the wire and the tools show."""
    out: Result = {
        "execId": outcome["exec_id"],
        "state": outcome["state"],
        "exitCode": outcome["exit_code"],
        "killed": outcome["killed"],
        "signal": outcome["signal"] or None,
        "timedOut": outcome["timed_out"],
        "truncated": outcome["truncated"],
        "durationMs": outcome["duration_ms"],
        "timeoutMs": outcome["timeout_ms"],
        "mechanism": outcome["mechanism"],
        "recordId": outcome["record_id"],
    }
    if outcome["error"]:
        out["error"] = outcome["error"]
    if "stdout" in outcome and outcome["exit_code"] is not None:
        out |= {"stdout": outcome["stdout"], "stderr": outcome["stderr"]}
        out |= {"stdoutTruncated": outcome["stdout_truncated"], "stderrTruncated": outcome["stderr_truncated"]}
    return out


def _token(call: Invocation) -> str:
    if call.token is None:
        raise RuntimeError("the gate gives every call of the sandbox a token")
    return call.token


def _exec_id(args: ProcessArgs | ReadArgs) -> dict[str, object]:
    return {"execId": args.exec_id}
