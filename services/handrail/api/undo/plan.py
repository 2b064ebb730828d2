"""The way back from a list of changes. Pure: records in, steps out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from handrail.kit.preimages import ABSENT, Record, State

Action = Literal["restore", "remove", "remove_directory", "move_back", "untrash", "lost"]


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do. `path` is where it ends up; `to` where a moved entry is now; `physical` where `path` lies before the first
    step ("" = in the trash). `expect` is what the last tool left there, None when nobody knows.
    """

    action: Action
    path: str
    to: str = ""
    before: State = ABSENT
    expect: State | None = None
    trash_id: str = ""
    physical: str = ""
    source: str = ""  # where `to` lies before the first step
    between: bool = False  # something else changed it between two changes by tools


def way_back(records: Sequence[Record]) -> list[Step]:
    """Steps in order: the latest change first. Changes of one place are one step, unless it was moved or deleted in between."""
    steps: list[Step] = []
    open_steps: dict[str, int] = {}  # path -> index, since the last step that moves things
    for record in reversed(_without_returned(records)):
        if record.kind == "file":
            known = open_steps.get(record.path)
            if known is None:
                open_steps[record.path] = len(steps)
                steps.append(_restore(record, steps))
            else:
                steps[known] = _earlier(steps[known], record)
            continue
        if record.kind in ("moved", "trashed"):
            open_steps.clear()
        steps.append(_other(record, steps))
    return steps


def _without_returned(records: Sequence[Record]) -> list[Record]:
    """What went to the trash and came back is as if nothing had been: both changes are left out."""
    returned = {record.trash_id for record in records if record.kind == "file" and record.trash_id}
    gone = {record.trash_id for record in records if record.kind == "trashed"}
    return [record for record in records if not record.trash_id or record.trash_id not in returned & gone]


def _restore(record: Record, earlier: Sequence[Step]) -> Step:
    before = record.before or ABSENT
    return Step(_action(before), record.path, before=before, expect=record.after, physical=_physical(record.path, earlier))


def _action(before: State) -> Action:
    return "remove" if before.kind == "absent" else "restore"


def _earlier(step: Step, record: Record) -> Step:
    """The same place, one change further back."""
    before = record.before or ABSENT
    seen = record.after is None or record.after.same(step.before)
    return replace(step, action=_action(before), before=before, between=step.between or not seen)


def _other(record: Record, earlier: Sequence[Step]) -> Step:
    here = _physical(record.path, earlier)
    if record.kind == "made":
        return Step("remove_directory", record.path, physical=here)
    if record.kind == "moved":
        return Step("move_back", record.path, to=record.to, physical=here, source=_physical(record.to, earlier))
    if record.kind == "trashed" and record.trash_id:
        return Step("untrash", record.path, trash_id=record.trash_id, physical=here)
    return Step("lost", record.path, physical=here)


def _physical(path: str, earlier: Sequence[Step]) -> str:
    """Where a place of back then lies now, before the steps in front of it are done."""
    for step in reversed(earlier):
        if step.action in ("move_back", "untrash") and (path == step.path or path.startswith(step.path + "/")):
            if step.action == "untrash":
                return ""
            path = step.to + path[len(step.path) :]
    return path
