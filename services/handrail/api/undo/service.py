"""Keeps what tools change: a pre-image before the change, the outcome after it, grouped by conversation and turn."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

import structlog

from handrail.api.context import Actor
from handrail.api.files.service import FileService
from handrail.api.tools.registry import Invocation, Result
from handrail.api.undo.errors import BadConversation
from handrail.api.undo.touches import Touch, named_by, touches
from handrail.kit import preimages
from handrail.kit.clock import Clock
from handrail.kit.errors import FileError, FileMissing
from handrail.kit.paths import Location, Scope
from handrail.kit.preimages import ABSENT, Keeper, Record

log = structlog.get_logger("handrail.undo")
KEEPERS = 256  # conversations that are remembered at a time
_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")


@dataclass(frozen=True, slots=True)
class _Kept:
    """What was noted before a call."""

    keeper: Keeper
    scope: Scope
    records: tuple[Record, ...]
    turn: str
    unnamed: bool  # the answer will name the place


class Undo:
    """One a process."""

    def __init__(self, data_dir: Path, files: FileService, clock: Clock) -> None:
        self._base = data_dir / "undo"
        self._files = files
        self._clock = clock
        self._keepers: OrderedDict[tuple[str, str, str], Keeper] = OrderedDict()

    async def run(self, call: Invocation) -> Result:
        """Run a changing file tool and keep the way back. What cannot be kept never stops the tool; the list shows a gap then."""
        planned = touches(call)
        if not planned:
            return await call.tool.run(call)
        conversation, turn = group_of(call.actor)
        keeper = self.keeper(call.actor, conversation)
        kept = await self._files.run(lambda: self._before(call, keeper, turn, planned))
        try:
            answer = await call.tool.run(call)
        except BaseException:
            # what really happened is looked at: a failed call may have changed something all the same
            await self._files.run(lambda: self._after(kept, call, {}))
            raise
        await self._files.run(lambda: self._after(kept, call, answer))
        return answer

    def keeper(self, actor: Actor, conversation: str) -> Keeper:
        """The pre-images of one of the actor's conversations in its workspace."""
        key = (actor.workspace.id, actor.user_id, conversation)
        known = self._keepers.pop(key, None) or Keeper(self._base, *key, self._clock)
        self._keepers[key] = known
        if len(self._keepers) > KEEPERS:
            self._keepers.popitem(last=False)
        return known

    def conversations(self, actor: Actor) -> list[Keeper]:
        """All of the actor's in its workspace, the latest first. Blocking."""
        return preimages.conversations(self._base, actor.workspace.id, actor.user_id, self._clock)

    def sweep(self) -> int:
        """Forget what is older than the retention. Blocking."""
        return preimages.sweep(self._base, self._clock)

    # --- one call, blocking ---

    def _before(self, call: Invocation, keeper: Keeper, turn: str, planned: tuple[Touch, ...]) -> _Kept:
        scope = self._files.scope(call.actor)
        if not keeper.last_change():
            preimages.make_room(self._base, call.actor.workspace.id, call.actor.user_id, self._clock)
        records: list[Record] = []
        for touch in planned:
            if not touch.path:
                continue
            try:
                location = scope.locate(touch.path)
                to = scope.locate(touch.to).path if touch.to else ""
                if touch.kind in ("file", "made"):
                    records += [keeper.add(_record(turn, call.tool.name, "made", path)) for path in _missing_above(scope, location)]
                before = keeper.keep(scope, location) if touch.kind == "file" else None
                new = Record(0, turn, 0, call.tool.name, touch.kind, location.path, to=to, before=before)
                records.append(keeper.add(new))
            except (FileError, OSError) as exc:
                # a place that cannot be looked at is refused by the tool too, with the better message; a full disk is a gap
                log.warning("no pre-image", tool=call.tool.name, problem=type(exc).__name__)
        return _Kept(keeper, scope, tuple(records), turn, unnamed=not planned[0].path)

    def _after(self, kept: _Kept, call: Invocation, answer: Result) -> None:
        try:
            for record in kept.records:
                _end(kept, record, answer)
            if kept.unnamed and (path := named_by(answer)):
                record = kept.keeper.add(Record(0, kept.turn, 0, call.tool.name, "file", path, before=ABSENT))
                after = kept.keeper.look(kept.scope, kept.scope.locate(path))
                kept.keeper.ended(record, after=after, trash_id=str(getattr(call.args, "trashId", "")))
        except (FileError, OSError) as exc:
            log.warning("an outcome was not kept", tool=call.tool.name, problem=type(exc).__name__)


def group_of(actor: Actor) -> tuple[str, str]:
    """Conversation and turn of a call: as the client says, else the device and this very call. Raises BadConversation."""
    if any(name and not _NAME.match(name) for name in (actor.conversation, actor.turn)):
        raise BadConversation
    return actor.conversation or f"device-{actor.identity.device_id}", actor.turn or f"call-{actor.request_id}"


def _record(turn: str, tool: str, kind: preimages.RecordKind, path: str) -> Record:
    return Record(0, turn, 0, tool, kind, path)


def _end(kept: _Kept, record: Record, answer: Result) -> None:
    keeper, scope = kept.keeper, kept.scope
    location = scope.locate(record.path)
    if record.kind == "file":
        after = keeper.look(scope, location)
        keeper.ended(record, after=after, void=record.before is not None and after.same(record.before))
    elif record.kind == "trashed":
        trash_id = str(answer.get("trashId") or "")
        keeper.ended(record, trash_id=trash_id, void=not trash_id)
    elif record.kind == "moved":
        keeper.ended(record, void=not answer)
    elif record.kind == "made":
        keeper.ended(record, void=keeper.look(scope, location).kind != "directory")


def _missing_above(scope: Scope, location: Location) -> list[str]:
    """Directories that a write would make, the outermost first."""
    missing: list[str] = []
    relative, path = location.relative, location.path
    while True:
        relative, path = relative.rpartition(b"/")[0], path.rpartition("/")[0]
        if not relative:
            break
        try:
            scope.stat(Location(location.root, relative, path))
            break
        except FileMissing:
            missing.append(path)
    return missing[::-1]
