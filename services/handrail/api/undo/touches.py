"""What a tool's call is about to change, by its arguments. A tool that is not known here and has a `path` changes the file there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from handrail.api.tools.registry import Invocation
from handrail.kit.preimages import RecordKind

NOTHING = frozenset({"OpenOnDesktop", "UploadDrop", "Rewind"})
RESULTS = ("path", "restoredPath")  # fields of an answer that name a place nobody knew before


@dataclass(frozen=True, slots=True)
class Touch:
    """One place. `path` "" = only the answer knows it."""

    kind: RecordKind
    path: str
    to: str = ""


def touches(call: Invocation) -> tuple[Touch, ...]:
    """The places, in the order in which they change."""
    name, args = call.tool.name, call.args
    if name in NOTHING:
        return ()
    if call.tool.touches is not None:
        return tuple(Touch("file", path) for path in call.tool.touches(args))
    path = getattr(args, "path", None)
    if name in ("Restore", "Stage"):
        return (Touch("file", ""),)
    if not isinstance(path, str):
        return ()
    if name == "Delete":
        return (Touch("trashed", path),)
    if name == "Mkdir":
        return (Touch("made", path),)
    to = _target(args, path)
    return (Touch("moved", path, to),) if to else (Touch("file", path),)


def _target(args: Any, path: str) -> str:  # noqa: ANN401 - each tool has its own argument class
    """Where a move or a rename puts it."""
    entry = path.rstrip("/")
    directory = getattr(args, "destDir", None)
    if isinstance(directory, str):
        return f"{directory.rstrip('/') or '/'}/{entry.rpartition('/')[2]}"
    name = getattr(args, "newName", None)
    if isinstance(name, str):
        head, slash, _ = entry.rpartition("/")
        return f"{head}{slash}{name}"
    return ""


def named_by(answer: dict[str, Any]) -> str:
    """The place that an answer names."""
    return next((str(answer[field]) for field in reversed(RESULTS) if answer.get(field)), "")
