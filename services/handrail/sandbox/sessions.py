"""The commands of this service: who owns them, how they stand, what they wrote."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from handrail.contract import sandbox as wire
from handrail.jail.jailer import Exit, Session
from handrail.kit import ringlog
from handrail.kit.clock import Clock
from handrail.sandbox.errors import TooManyCommands, UnknownProcess

KEEP_ENDED_S = 600.0  # an ended command can be read this long
KEEP_ENDED = 64  # ... as long as it is among so many newest of its user
_REASONS: dict[str, wire.State] = {"stop": "cancelled", "orphaned": "cancelled", "timeout": "timed_out", "lost": "lost"}


@dataclass(slots=True)
class Command:
    """One command. `ended_at` is seconds of the monotonic clock."""

    exec_id: str
    record_id: str
    user_id: str
    workspace_id: str
    command: str  # masked
    cwd: str
    timeout_ms: int
    mechanism: str
    directory: Path
    started_wall: float
    started: float
    session: Session | None = None
    exit: Exit | None = None
    ended_at: float = 0.0
    readers: int = 0
    done: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def state(self) -> wire.State:
        """running, or how it ended."""
        if self.exit is None:
            return "running"
        if self.exit.reason:
            return _REASONS[self.exit.reason]
        return "completed" if self.exit.code == 0 and not self.exit.error else "failed"

    def outcome(self, now: float) -> wire.Outcome:
        """The fields of every answer."""
        end = self.exit
        kept = ringlog.size(str(self.directory)) if end is None else (end.dropped, end.total)
        return {
            "exec_id": self.exec_id,
            "state": self.state,
            "exit_code": None if end is None else (-1 if end.error else end.code),
            "signal": "" if end is None else end.signal,
            "error": "" if end is None else end.error,
            "killed": end is not None and bool(end.reason),
            "timed_out": self.state == "timed_out",
            "truncated": kept[0] > 0 or bool(end and end.log_error),
            "duration_ms": round((now - self.started) * 1000, 1) if end is None else end.duration_ms,
            "timeout_ms": self.timeout_ms,
            "total": kept[1],
            "mechanism": self.mechanism,
            "record_id": self.record_id,
        }


class Commands:
    """All commands, running and lately ended."""

    def __init__(self, directory: Path, clock: Clock, *, per_user: int) -> None:
        """`directory` is ours alone: what an earlier run of this service left in it is removed."""
        self._directory = directory
        self._clock = clock
        self._per_user = per_user
        self._all: dict[str, Command] = {}
        self._running: dict[str, set[str]] = {}  # by user: counted at each start, while hundreds of ended ones are kept
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(mode=0o700, parents=True)

    def reserve(self, command: Command) -> None:
        """Make it visible to its user. Raises TooManyCommands."""
        running = self._running.setdefault(command.user_id, set())
        if len(running) >= self._per_user:
            raise TooManyCommands(limit=self._per_user)
        running.add(command.exec_id)
        self._all[command.exec_id] = command

    def directory_of(self, exec_id: str) -> Path:
        """Where its log and exit record go."""
        return self._directory / exec_id

    def forget(self, command: Command) -> None:
        """Take it back, with its files."""
        self._all.pop(command.exec_id, None)
        self._ended(command)
        shutil.rmtree(command.directory, ignore_errors=True)

    def get(self, exec_id: str, user_id: str, workspace_id: str) -> Command:
        """The caller's own command. Raises UnknownProcess, for another user's too."""
        command = self._all.get(exec_id)
        if command is None or command.user_id != user_id or command.workspace_id != workspace_id:
            raise UnknownProcess
        return command

    def of(self, user_id: str) -> Iterator[Command]:
        """A user's commands, oldest first."""
        return (command for command in self._all.values() if command.user_id == user_id)

    @property
    def running(self) -> int:
        """How many run now, of all users."""
        return sum(len(running) for running in self._running.values())

    async def follow(self, command: Command, session: Session) -> None:
        """Wait for the end and note it."""
        command.session = session
        command.exit = await session.exit
        command.ended_at = self._clock.monotonic()
        self._ended(command)
        command.done.set()

    def _ended(self, command: Command) -> None:
        running = self._running.get(command.user_id, set())
        running.discard(command.exec_id)
        if not running:
            self._running.pop(command.user_id, None)

    def sweep(self) -> None:
        """Forget ended commands that are too old or too many."""
        now = self._clock.monotonic()
        kept: dict[str, int] = {}
        for command in reversed(tuple(self._all.values())):
            if command.exit is None or command.readers:
                continue
            kept[command.user_id] = kept.get(command.user_id, 0) + 1
            if kept[command.user_id] > KEEP_ENDED or now - command.ended_at > KEEP_ENDED_S:
                self.forget(command)

    async def stop_all(self, timeout_s: float) -> None:
        """Kill every tree; returns when they are dead or time is up."""
        running = [command for command in self._all.values() if command.exit is None]
        for command in running:
            if command.session is not None:
                command.session.stop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                for command in running:
                    await command.done.wait()


def page(command: Command, cursor: int) -> tuple[ringlog.Page, list[tuple[int, str]]]:
    """A page of output from `cursor` on, as text."""
    found = ringlog.read(str(command.directory), cursor, wire.MAX_PAGE)
    return found, [(piece.stream, piece.data.decode("utf-8", "replace")) for piece in found.pieces]


def collect(command: Command, limit: int) -> tuple[tuple[str, str], tuple[bool, bool]]:
    """Both streams from the oldest byte kept, at most `limit` bytes each, and whether each was cut."""
    streams = (bytearray(), bytearray())
    cut = [False, False]
    cursor = 0
    if command.exit is not None and command.exit.total == 0:
        return ("", ""), (False, False)
    while True:
        found = ringlog.read(str(command.directory), cursor, 16 * wire.MAX_PAGE)
        if found.truncated:
            cut = [True, True]
        for piece in found.pieces:
            room = limit - len(streams[piece.stream])
            streams[piece.stream].extend(piece.data[:room])
            cut[piece.stream] = cut[piece.stream] or len(piece.data) > room
        if found.end == cursor or not found.has_more or all(len(stream) >= limit for stream in streams):
            return (_text(streams[0]), _text(streams[1])), (cut[0], cut[1])
        cursor = found.end


def _text(data: bytearray) -> str:
    # the limit may cut a character: the decoder drops an incomplete one at the end
    return data.decode("utf-8", "ignore")
