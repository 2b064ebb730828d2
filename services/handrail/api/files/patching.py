"""Executor of Patch: every file of a unified diff, or none. One step for whoever keeps checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import structlog

from handrail.api.context import Actor
from handrail.api.files import edit, patch
from handrail.api.files.arguments import PatchArgs
from handrail.api.files.base import Base, encoded, line_count, load, save
from handrail.api.files.errors import EditNoChange, PatchAmbiguous, PatchInvalid, PatchNoMatch
from handrail.api.files.service import FileService
from handrail.api.tools.registry import Invocation, Result
from handrail.contract.errors import HandrailError
from handrail.kit import files as kit_files
from handrail.kit.errors import AlreadyExists, FileMissing
from handrail.kit.paths import Location, Scope
from handrail.kit.text import encode
from handrail.kit.versions import FileVersion

log = structlog.get_logger("handrail.files")
Undo = Callable[[], object]


@dataclass(frozen=True, slots=True)
class _Plan:
    """One file: `base` None = it is new, `data` None = it goes to the trash."""

    location: Location
    base: Base | None
    data: bytes | None
    lines: int


async def apply_patch(files: FileService, call: Invocation) -> Result:
    """Raises PatchInvalid, PatchNoMatch, PatchAmbiguous, StaleFile, AlreadyExists, ...; then no file is changed."""
    args = cast("PatchArgs", call.args)
    scope = files.scope(call.actor)
    try:
        found = patch.parse(args.patch)
    except patch.NotAPatch as exc:
        raise PatchInvalid(line=exc.line, reason=exc.reason) from exc
    targets = [(one, scope.locate(one.path)) for one in found]
    if len({location.path for _, location in targets}) < len(targets):
        raise PatchInvalid(line=1, reason="a file occurs twice")
    return await files.run(lambda: _all_or_nothing(files, call.actor, scope, targets))


def paths(args: PatchArgs) -> list[str]:
    """The files that a patch names; none when it is none."""
    try:
        return [one.path for one in patch.parse(args.patch)]
    except patch.NotAPatch:
        return []


def _all_or_nothing(files: FileService, actor: Actor, scope: Scope, targets: list[tuple[patch.FilePatch, Location]]) -> Result:
    plans = [_planned(files, actor, scope, one, location) for one, location in targets]
    files.before_change(actor, [plan.location for plan in plans])
    undo: list[Undo] = []
    told: list[Result] = []
    try:
        told.extend(_done(files, actor, scope, plan, undo) for plan in plans)
    except BaseException:
        _take_back(undo)
        raise
    return {"files": told}


def _planned(files: FileService, actor: Actor, scope: Scope, one: patch.FilePatch, location: Location) -> _Plan:
    if one.old is None:
        _refuse_existing(scope, location)
        text = _patched("", one, location)
        return _Plan(location, None, encode(text, "utf-8"), line_count(text))
    base = load(files, actor, scope, location, None)
    text = _patched(base.text.text, one, location)
    if one.new is None:
        if text:
            raise PatchNoMatch(path=location.path, hunk=len(one.hunks))
        return _Plan(location, base, None, 0)
    if text == base.text.text:
        raise EditNoChange(path=location.path)
    return _Plan(location, base, encoded(files, base, text), line_count(text))


def _refuse_existing(scope: Scope, location: Location) -> None:
    try:
        scope.lstat(location)
    except FileMissing:
        return
    raise AlreadyExists(location.path)


def _patched(text: str, one: patch.FilePatch, location: Location) -> str:
    outcome = patch.applied(text, one.hunks)
    if isinstance(outcome, str):
        return outcome
    if outcome.places:
        raise PatchAmbiguous(
            path=location.path, hunk=outcome.hunk, count=outcome.places, extra={"path": location.path, "hunk": outcome.hunk}
        )
    near = edit.nearest(text, outcome.text) if outcome.text else None
    extra: dict[str, object] = {"path": location.path, "hunk": outcome.hunk}
    if near is not None:
        extra["nearest"] = edit.shown(near)
    raise PatchNoMatch(path=location.path, hunk=outcome.hunk, extra=extra)


def _done(files: FileService, actor: Actor, scope: Scope, plan: _Plan, undo: list[Undo]) -> Result:
    """Change one file and note how to take it back."""
    location, base, data = plan.location, plan.base, plan.data
    if data is None:
        trash = files.trash(actor)
        item = trash.put(scope, location)
        undo.append(lambda: trash.restore(scope, item.id))
        files.seen.forget(actor, location)
        return {"path": location.path, "action": "deleted", "trashId": item.id}
    if base is None:
        written = kit_files.write(scope, location, data, exclusive=True)
        made = FileVersion.written(written.version, data)
        undo.append(lambda: kit_files.remove(scope, location, made))
        files.seen.put(actor, location, made, whole=True)
        return {"path": location.path, "action": "created", "version": str(made), "totalLines": plan.lines}
    version = save(files, actor, scope, base, data)
    undo.append(lambda: kit_files.write(scope, location, base.raw, parents=False, expect=version))
    undo.append(lambda: files.seen.forget(actor, location))
    answer: Result = {"path": location.path, "action": "changed", "version": str(version), "totalLines": plan.lines}
    return answer | {"autoRead": "full"} if base.auto_read else answer


def _take_back(undo: list[Undo]) -> None:
    for step in reversed(undo):
        try:
            step()
        except HandrailError as exc:  # somebody changed it again meanwhile: theirs stays, and the log says so
            log.warning("a step of a patch was not taken back", reason=exc.code)
