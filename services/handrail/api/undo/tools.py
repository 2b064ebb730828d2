"""The undo tools of the registry, and their executors."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import Field

from handrail.api.context import Actor
from handrail.api.files.service import FileService
from handrail.api.tools.registry import Arguments, Invocation, Result, Tool
from handrail.api.undo.errors import PreviewStale, RewindConflict, UnknownCheckpoint
from handrail.api.undo.plan import way_back
from handrail.api.undo.rewinding import DIFFS_SHOWN, Place, Seen, diff, fingerprint, go, look
from handrail.api.undo.service import Undo
from handrail.kit.preimages import CONVERSATION, RETENTION_MS, Keeper, Record

FILES_SHOWN = 200  # places of one checkpoint in a list
CONFLICTS = frozenset({"changed", "taken", "between", "missing", "expired", "gap"})
REWIND_ABOUT = (
    "Undo a turn and everything after it in this conversation: contents, modes, deletions and moves made by file tools. Reports places "
    "that something else has changed since and changes nothing then, unless forced. What commands did is not undone. "
    "`id` is from GET /api/checkpoints."
)


class ListArgs(Arguments):
    """Checkpoints, the latest first."""

    conversation: str = ""
    limit: Annotated[int, Field(ge=1, le=500)] = 100


class CheckpointArgs(Arguments):
    """One checkpoint."""

    id: Annotated[str, Field(max_length=200)]


class RewindArgs(Arguments):
    """Back to before a checkpoint."""

    id: Annotated[str, Field(max_length=200)]
    fingerprint: Annotated[str, Field(max_length=64, description="Of the preview: do exactly what it showed or nothing.")] = ""
    force: Annotated[bool, Field(description="Do what can be done although places have changed; their content now is kept.")] = False


def tools(undo: Undo, files: FileService) -> tuple[Tool, ...]:
    """List, preview, rewind."""

    async def listed(call: Invocation) -> Result:
        args = cast("ListArgs", call.args)
        return {"success": True, "checkpoints": await files.run(lambda: _list(undo, call.actor, args))}

    async def preview(call: Invocation) -> Result:
        args = cast("CheckpointArgs", call.args)
        return await files.run(lambda: _preview(undo, files, call.actor, args.id))

    async def rewind(call: Invocation) -> Result:
        args = cast("RewindArgs", call.args)
        return await files.run(lambda: _rewind(undo, files, call.actor, args, f"rewind-{call.actor.request_id}"))

    return (
        Tool("CheckpointList", "", ListArgs, "read", "files", "fs", "checkpoints", listed, listed=False),
        Tool("CheckpointPreview", "", CheckpointArgs, "read", "files", "fs", "checkpoint_preview", preview, summary=_summary, listed=False),
        Tool(
            "Rewind",
            REWIND_ABOUT,
            RewindArgs,
            "write",
            "files",
            "fs",
            "rewind",
            rewind,
            summary=_summary,
            title={"en": "Undo a turn", "zh": "撤销一轮修改"},
        ),
    )


def _summary(args: Any) -> dict[str, object]:  # noqa: ANN401 - each tool has its own argument class
    return {"checkpoint": args.id[:200], **({"force": True} if getattr(args, "force", False) else {})}


def _turns(records: list[Record]) -> dict[str, list[Record]]:
    """By turn, in order of each one's first change."""
    turns: dict[str, list[Record]] = {}
    for record in records:
        turns.setdefault(record.turn, []).append(record)
    return turns


def _list(undo: Undo, actor: Actor, args: ListArgs) -> list[dict[str, object]]:
    out: list[dict[str, object]] = []
    for keeper in undo.conversations(actor):
        if args.conversation and keeper.conversation != args.conversation:
            continue
        out += [_shown(keeper, turn, records) for turn, records in _turns(keeper.records()).items()]
    return sorted(out, key=lambda item: (cast("int", item["createdAt"]), cast("int", item["seq"])), reverse=True)[: args.limit]


def _shown(keeper: Keeper, turn: str, records: list[Record]) -> dict[str, object]:
    places = {(record.path, change): record for record in records if (change := _change(record))}
    return {
        "id": f"{keeper.conversation}~{records[0].seq}",
        "seq": records[0].seq,
        "conversation": keeper.conversation,
        "turn": turn,
        "kind": "rewind" if turn.startswith("rewind-") else "turn",
        "createdAt": records[0].at,
        "expiresAt": int(keeper.last_change() * 1000) + RETENTION_MS,
        "tools": sorted({record.tool for record in records}),
        "complete": all(record.kind != "gap" and record.ended for record in records),
        "count": len(places),
        "files": [{"path": path, "change": change, "to": record.to} for (path, change), record in list(places.items())[:FILES_SHOWN]],
    }


def _change(record: Record) -> str:
    if record.kind == "file":
        return "created" if record.before is not None and record.before.kind == "absent" else "modified"
    return {"made": "directory", "moved": "moved", "trashed": "deleted"}.get(record.kind, "unknown")


def _find(undo: Undo, actor: Actor, checkpoint: str) -> tuple[Keeper, list[Record]]:
    """The conversation and every change from the checkpoint on. Raises UnknownCheckpoint (other users' too)."""
    conversation, _, number = checkpoint.rpartition("~")
    if not CONVERSATION.match(conversation) or not number.isascii() or not number.isdigit():
        raise UnknownCheckpoint
    keeper = undo.keeper(actor, conversation)
    records = keeper.records()
    first = next((record for record in records if record.seq == int(number[:12])), None)
    if first is None:
        raise UnknownCheckpoint
    return keeper, [record for record in records if record.seq >= first.seq]


def _seen(undo: Undo, files: FileService, actor: Actor, checkpoint: str) -> tuple[Place, list[Seen]]:
    keeper, records = _find(undo, actor, checkpoint)
    place = Place(files.scope(actor), files.trash(actor), keeper)
    return place, look(place, way_back(records))


def _preview(undo: Undo, files: FileService, actor: Actor, checkpoint: str) -> Result:
    place, seen = _seen(undo, files, actor, checkpoint)
    steps = [_step(item, diff(place, item) if number < DIFFS_SHOWN else None) for number, item in enumerate(seen)]
    return {
        "success": True,
        "id": checkpoint,
        "steps": steps,
        "conflicts": sum(item.problem in CONFLICTS for item in seen),
        "fingerprint": fingerprint(seen),
    }


def _step(item: Seen, text: str | None) -> dict[str, object]:
    step = item.step
    shown: dict[str, object] = {"action": step.action, "path": step.path, "done": item.done, "problem": item.problem}
    if step.to:
        shown["from"] = step.to
    if text is not None:
        shown["diff"] = text
    return shown


def _rewind(undo: Undo, files: FileService, actor: Actor, args: RewindArgs, turn: str) -> Result:
    place, seen = _seen(undo, files, actor, args.id)
    conflicts = [_step(item, None) for item in seen if item.problem in CONFLICTS]
    if args.fingerprint and args.fingerprint != fingerprint(seen):
        raise PreviewStale
    if conflicts and not args.force:
        raise RewindConflict(count=len(conflicts), extra={"conflicts": conflicts[:FILES_SHOWN]})
    done, left = go(place, seen, turn)
    return {
        "success": True,
        "id": args.id,
        "done": [{"action": step.action, "path": step.path} for step in done],
        "left": [{"action": step.action, "path": step.path, "problem": problem} for step, problem in left],
        "turn": turn,
        "conversation": place.keeper.conversation,
    }
