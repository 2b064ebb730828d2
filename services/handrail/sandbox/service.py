"""The sandbox's rules: verify, record, judge, run, read, stop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import structlog

from handrail.contract import sandbox as wire
from handrail.contract.errors import HandrailError, ServiceUnavailable
from handrail.contract.ids import new_exec_id, new_uuid
from handrail.contract.tokens import Claims
from handrail.jail.jailer import Jailer, Session
from handrail.jail.profile import Job, Profile
from handrail.kit.clock import Clock
from handrail.kit.redact import redact
from handrail.policy import Context
from handrail.sandbox import judge, sessions
from handrail.sandbox.environment import Environments, Home
from handrail.sandbox.errors import BadCall, CommandTooLong, RecordUnavailable
from handrail.sandbox.guard import Guard
from handrail.sandbox.places import Places
from handrail.sandbox.probe import prove
from handrail.sandbox.records import Records
from handrail.sandbox.sessions import Command, Commands

log = structlog.get_logger("handrail.sandbox")
BASH = ("/bin/bash", "--noprofile", "--norc", "-c")
SWEEP_EVERY_S = 30.0
STOP_WAIT_S = 3.0
SHOWN = 4096  # characters of a command in a list


@dataclass(frozen=True, slots=True)
class Parts:
    """What the service is made of."""

    guard: Guard
    records: Records
    places: Places
    environments: Environments
    jailer: Jailer
    commands: Commands
    clock: Clock


@dataclass(frozen=True, slots=True)
class _Admitted:
    """A command that may run, and where."""

    command: Command
    home: Home
    roots: tuple[str, ...]


class Sandbox:
    """One sandbox."""

    def __init__(self, parts: Parts, *, data_dir: Path, network: bool, ring_bytes: int, timeout_ms: int) -> None:
        self._parts = parts
        self._data_dir = str(data_dir)
        self._network = network
        self._ring_bytes = ring_bytes
        self._timeout_ms = timeout_ms
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False

    async def run(self, token: str, arguments: Mapping[str, Any]) -> wire.RunAnswer:
        """Start a command; with `wait` in the arguments answer when it is over.

        Raises TokenRefused, PolicyDenied, ApprovalMissing, BadDirectory, CommandTooLong, TooManyCommands, JailUnavailable,
        RecordUnavailable, BadCall: in each case nothing was run.
        """
        parts = self._parts
        if self._closing:
            raise ServiceUnavailable(service="sandbox")
        claims = parts.guard.check(token, arguments, tool=wire.TOOL_RUN, tiers=("high",)).claims
        record_id = new_uuid()
        try:
            wanted = run_arguments(arguments)
            admitted = self._admit(claims, wanted, record_id)
        except Exception as exc:
            why = exc.code if isinstance(exc, HandrailError) else type(exc).__name__
            parts.records.add("refused", record_id, jti=claims.jti, sub=claims.sub, args=claims.args, why=why)
            raise
        command = admitted.command
        try:
            session = await self._launch(claims, wanted, admitted)
        except BaseException:
            parts.commands.forget(command)
            raise
        self._track(command, session)
        if wanted["wait"]:
            await command.done.wait()
        return self._run_answer(command, waited=wanted["wait"])

    def _admit(self, claims: Claims, wanted: wire.RunArguments, record_id: str) -> _Admitted:
        """Judge the exact bytes and write the record; the command is visible from then on."""
        parts = self._parts
        if len(wanted["command"].encode()) > wire.MAX_COMMAND:
            raise CommandTooLong(limit=wire.MAX_COMMAND)
        roots = self._roots(wanted)
        cwd = parts.places.check_cwd(wanted["cwd"], roots)
        home = parts.places.home_of(claims.ws)
        judge.judge(wanted["command"], Context(cwd, str(home.home), wanted["root"], self._data_dir), claims)
        exec_id = new_exec_id()
        command = Command(
            exec_id=exec_id,
            record_id=record_id,
            user_id=claims.sub,
            workspace_id=claims.ws,
            command=redact(wanted["command"][:SHOWN]),
            cwd=cwd,
            timeout_ms=wanted["timeout_ms"],
            mechanism=parts.jailer.mechanism.name,
            directory=parts.commands.directory_of(exec_id),
            started_wall=parts.clock.now(),
            started=parts.clock.monotonic(),
        )
        parts.commands.reserve(command)
        return _Admitted(command, home, roots)

    def _roots(self, wanted: wire.RunArguments) -> tuple[str, ...]:
        """The work root (it must do) and those extra roots that may be granted here: missing or protected ones are left out."""
        places = self._parts.places
        return (places.check_root(wanted["root"]), *places.grantable(wanted["extra_roots"]))

    async def _launch(self, claims: Claims, wanted: wire.RunArguments, admitted: _Admitted) -> Session:
        parts, command, home = self._parts, admitted.command, admitted.home
        writable = (*admitted.roots, str(home.home), str(home.tmp))
        job = Job(
            argv=(*BASH, wanted["command"]),
            env=parts.environments.build(home, command.cwd, writable),
            cwd=command.cwd,
            directory=str(command.directory),
            profile=Profile(writable),
            timeout_ms=command.timeout_ms,
            ring_bytes=self._ring_bytes,
        )
        parts.records.add(
            "started",
            command.record_id,
            jti=claims.jti,
            sub=claims.sub,
            ws=claims.ws,
            args=claims.args,
            approval=claims.approval,
            token_policy=claims.policy,
            policy=judge.version(),
            exec=command.exec_id,
            mechanism=command.mechanism,
        )
        return await parts.jailer.launch(job)

    def _track(self, command: Command, session: Session) -> None:
        command.session = session
        task = asyncio.get_running_loop().create_task(self._follow(command, session))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _follow(self, command: Command, session: Session) -> None:
        await self._parts.commands.follow(command, session)
        end = command.exit
        if end is None:
            return
        with contextlib.suppress(RecordUnavailable):
            # the command is over: a record that cannot be written is a log line, not a refusal
            fields = {"state": command.state, "code": end.code, "signal": end.signal, "ms": end.duration_ms, "bytes": end.total}
            self._parts.records.add("ended", command.record_id, exec=command.exec_id, **fields)
        if end.error or end.log_error:
            log.warning("command", exec=command.exec_id, error=end.error, output=end.log_error)

    def _run_answer(self, command: Command, *, waited: bool) -> wire.RunAnswer:
        texts, cut = sessions.collect(command, wire.WAIT_OUTPUT) if waited else (("", ""), (False, False))
        outcome = command.outcome(self._parts.clock.monotonic())
        outcome["truncated"] = outcome["truncated"] or any(cut)
        return {**outcome, "stdout": texts[0], "stderr": texts[1], "stdout_truncated": cut[0], "stderr_truncated": cut[1]}

    async def output(self, token: str, arguments: Mapping[str, Any], cursor: int, wait_ms: int) -> wire.OutputAnswer:
        """A page from `cursor` on; waits up to `wait_ms` while there is none. Raises TokenRefused, UnknownProcess."""
        command = self._own(token, arguments, wire.TOOL_READ, effect=False)
        command.readers += 1
        try:
            found, pieces = sessions.page(command, cursor)
            if not pieces and command.session is not None and command.exit is None and wait_ms > 0:
                await command.session.wait_growth(found.end, min(wait_ms, wire.MAX_WAIT_MS) / 1000)
                # the end of the session is noted by another task that the same message wakes
                if command.session.exit.done():
                    await command.done.wait()
                found, pieces = sessions.page(command, cursor)
        finally:
            command.readers -= 1
        outcome = command.outcome(self._parts.clock.monotonic())
        return {
            **outcome,
            "start": found.start,
            "next": found.end,
            "has_more": found.end < outcome["total"],
            "output_truncated": found.truncated,
            "pieces": pieces,
        }

    async def ended(self, token: str, arguments: Mapping[str, Any], wait_ms: int) -> wire.Outcome:
        """How it stands with a command, after waiting up to `wait_ms` for its end. Raises TokenRefused, UnknownProcess."""
        command = self._own(token, arguments, wire.TOOL_READ, effect=False)
        command.readers += 1
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(0, min(wait_ms, wire.MAX_WAIT_MS)) / 1000):
                    await command.done.wait()
        finally:
            command.readers -= 1
        return command.outcome(self._parts.clock.monotonic())

    async def stop(self, token: str, arguments: Mapping[str, Any]) -> wire.Outcome:
        """Kill the tree and answer when it is dead. A command that has ended stays as it is."""
        command = self._own(token, arguments, wire.TOOL_STOP, effect=True)
        if command.exit is None and command.session is not None:
            self._parts.records.add("stop", command.record_id, exec=command.exec_id)
            command.session.stop()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(STOP_WAIT_S):
                    await command.done.wait()
        return command.outcome(self._parts.clock.monotonic())

    def list(self, token: str, arguments: Mapping[str, Any]) -> list[wire.ProcessRow]:
        """The caller's running commands in this workspace."""
        claims = self._parts.guard.check(token, arguments, tool=wire.TOOL_LIST, tiers=("low",)).claims
        now = self._parts.clock.monotonic()
        return [
            {
                "exec_id": command.exec_id,
                "pid": command.session.shim_pid if command.session else 0,
                "command": command.command,
                "cwd": command.cwd,
                "state": command.state,
                "start_time": int(command.started_wall * 1000),
                "duration_ms": round((now - command.started) * 1000, 1),
                "timeout_ms": command.timeout_ms,
            }
            for command in self._parts.commands.of(claims.sub)
            if command.workspace_id == claims.ws and command.exit is None
        ]

    def _own(self, token: str, arguments: Mapping[str, Any], tool: str, *, effect: bool) -> Command:
        claims = self._parts.guard.check(token, arguments, tool=tool, tiers=("high", "low") if effect else ("low",)).claims
        exec_id = arguments.get("exec_id")
        return self._parts.commands.get(exec_id if isinstance(exec_id, str) else "", claims.sub, claims.ws)

    def health(self) -> wire.HealthAnswer:
        """Ready to run commands."""
        mechanism = self._parts.jailer.mechanism
        return {
            "status": "ok",
            "mechanism": mechanism.name,
            "landlock_abi": mechanism.abi,
            "network": self._network,
            "policy_version": judge.version(),
            "running": self._parts.commands.running,
        }

    async def start(self) -> None:
        """Start the fork server and prove, with a real command, that the jail holds. Raises JailUnavailable."""
        self._parts.jailer.start()
        await prove(self._parts.jailer, self._parts.commands.directory_of("probe"), self._data_dir)
        self._tasks.add(asyncio.get_running_loop().create_task(self._sweep_forever()))

    async def _sweep_forever(self) -> None:
        """Forget old commands now and then."""
        while True:
            await asyncio.sleep(SWEEP_EVERY_S)
            self._parts.commands.sweep()

    async def close(self) -> None:
        """No new command, kill every tree, end the fork server."""
        self._closing = True
        await self._parts.commands.stop_all(STOP_WAIT_S)
        await self._parts.jailer.close()


def run_arguments(arguments: Mapping[str, Any]) -> wire.RunArguments:
    """The shape of a run. Raises BadCall naming the field."""
    for name, kind in (("command", str), ("cwd", str), ("root", str), ("timeout_ms", int), ("wait", bool), ("extra_roots", list)):
        value = arguments.get(name)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise BadCall(detail=f"{name} is missing or of the wrong type")
    if any(not isinstance(root, str) for root in arguments["extra_roots"]):
        raise BadCall(detail="extra_roots is of the wrong type")
    if "\0" in arguments["command"]:
        raise BadCall(detail="command holds a NUL character")
    if not wire.MIN_TIMEOUT_MS <= arguments["timeout_ms"] <= wire.MAX_TIMEOUT_MS:
        raise BadCall(detail=f"timeout_ms must be {wire.MIN_TIMEOUT_MS} to {wire.MAX_TIMEOUT_MS}")
    return cast("wire.RunArguments", dict(arguments))
