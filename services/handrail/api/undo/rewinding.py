"""Looking at the way back and going it. Blocking; each step looks again before it acts, and what it takes away is kept too."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from dataclasses import dataclass

from handrail.api.undo.plan import Step
from handrail.kit import moves
from handrail.kit.canonical import sha256
from handrail.kit.errors import DirectoryNotEmpty, FileError, FileMissing, StaleFile
from handrail.kit.incoming import Incoming
from handrail.kit.paths import Scope
from handrail.kit.preimages import ABSENT, Keeper, Record, State
from handrail.kit.text import decode
from handrail.kit.trash import Trash

DIFF_BYTES = 512 << 10  # of a file that is compared line by line
DIFF_LINES = 400  # shown of one file
DIFFS_SHOWN = 100  # files of one preview


@dataclass(frozen=True, slots=True)
class Seen:
    """A step as it stands: `problem` is "" when it can be done, `done` when there is nothing to do."""

    step: Step
    now: State
    problem: str = ""  # changed | missing | taken | expired | gap | between
    done: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """What the steps work with."""

    scope: Scope
    trash: Trash
    keeper: Keeper


def look(place: Place, steps: Sequence[Step]) -> list[Seen]:
    """Each step against what is there now."""
    freed: set[str] = set()  # places that a step in front makes free
    trashed = {item.id for item in place.trash.list()} if any(step.action == "untrash" for step in steps) else set[str]()
    out: list[Seen] = []
    for step in steps:
        out.append(_look(place, step, freed, trashed))
        if step.action == "remove":
            freed.add(step.path)
        elif step.action == "move_back":
            freed.add(step.to)
    return out


def _look(place: Place, step: Step, freed: set[str], trashed: set[str]) -> Seen:
    if step.action == "lost":
        return Seen(step, ABSENT, "gap")
    now = _state(place, step.physical)
    if step.action in ("restore", "remove"):
        return _content(place, step, now)
    if step.action == "remove_directory":
        return Seen(step, now, done=now.kind != "directory")
    occupied = now.kind != "absent" and step.physical not in freed and step.path not in freed
    if step.action == "untrash":
        return Seen(step, now, "expired" if step.trash_id not in trashed else "taken" if occupied else "")
    if not step.source:
        return Seen(step, now)
    source = _state(place, step.source)
    if source.kind == "absent" and now.kind != "absent":
        return Seen(step, now, done=True)
    return Seen(step, source, "missing" if source.kind == "absent" else "taken" if occupied else "")


def _state(place: Place, path: str) -> State:
    if not path:
        return ABSENT
    try:
        return place.keeper.look(place.scope, place.scope.locate(path))
    except FileError:
        return State("other")


def _content(place: Place, step: Step, now: State) -> Seen:
    if not step.physical:  # in the trash until a step in front brings it back: nobody can have changed it there
        return Seen(step, step.expect or ABSENT, "between" if step.between else "")
    if now.same(step.before):
        return Seen(step, now, done=True)
    if step.action == "restore" and not place.keeper.has(step.before):
        return Seen(step, now, "gap")
    returned = step.action == "remove" and step.expect is not None and step.expect.kind == "directory"
    if now.kind == "other" or (now.kind == "directory" and not returned):
        return Seen(step, now, "taken")
    if step.expect is None or not now.same(step.expect):
        return Seen(step, now, "changed")
    return Seen(step, now, "between" if step.between else "")


def fingerprint(seen: Sequence[Seen]) -> str:
    """What a preview showed, as a hash: a rewind that names it does exactly that or nothing."""
    return sha256([_facts(item) for item in seen])


def _facts(item: Seen) -> list[str]:
    step, now = item.step, item.now
    return [step.action, step.path, step.to, step.before.sha256, now.kind, now.sha256, now.mark, item.problem]


def go(place: Place, seen: Sequence[Seen], turn: str) -> tuple[list[Step], list[tuple[Step, str]]]:
    """Do the steps that can be done; (done, left). What is overwritten or removed becomes a checkpoint of its own, `turn`."""
    done: list[Step] = []
    left: list[tuple[Step, str]] = []
    for item in seen:
        if item.done:
            continue
        if item.problem in ("gap", "expired", "missing"):
            left.append((item.step, item.problem))
            continue
        try:
            _do(place, item, turn)
            done.append(item.step)
        except DirectoryNotEmpty:
            left.append((item.step, "not_empty"))
        except (FileError, OSError) as exc:
            left.append((item.step, exc.code if isinstance(exc, FileError) else "io"))
    return done, left


def _do(place: Place, item: Seen, turn: str) -> None:
    step, keeper, scope = item.step, place.keeper, place.scope
    location = scope.locate(step.path)
    if step.action == "untrash":
        place.trash.restore(scope, step.trash_id)
        record = keeper.add(Record(0, turn, 0, "Rewind", "file", step.path, before=ABSENT))
        keeper.ended(record, after=keeper.look(scope, location), trash_id=step.trash_id)
    elif step.action == "move_back":
        source = scope.locate(step.to)
        record = keeper.add(Record(0, turn, 0, "Rewind", "moved", step.to, to=step.path))
        try:
            with scope.entry(source) as here, scope.entry(location) as there:
                moves.move_entry(here, there, source.path, location.path)
        except BaseException:
            keeper.ended(record, void=True)
            raise
        keeper.ended(record)
    elif step.action == "remove_directory":
        moves.remove_directory(scope, location)
    elif step.action == "remove":
        _remove(place, item, turn)
    else:
        _restore(place, item, turn)


def _remove(place: Place, item: Seen, turn: str) -> None:
    record = place.keeper.add(Record(0, turn, 0, "Rewind", "trashed", item.step.path))
    try:
        trash_id = place.trash.put(place.scope, place.scope.locate(item.step.path)).id
    except BaseException:
        place.keeper.ended(record, void=True)
        raise
    place.keeper.ended(record, trash_id=trash_id)


def _restore(place: Place, item: Seen, turn: str) -> None:
    step, keeper, scope = item.step, place.keeper, place.scope
    location = scope.locate(step.path)
    current = keeper.keep(scope, location)
    if item.step.physical == step.path and not current.same(item.now):
        raise StaleFile(step.path)  # between the look and now
    record = keeper.add(Record(0, turn, 0, "Rewind", "file", step.path, before=current))
    try:
        with Incoming(scope, location) as incoming:
            for piece in keeper.content(step.before):
                incoming.write(piece)
            if incoming.sha256 != step.before.sha256:
                raise FileMissing(step.path)  # a damaged pre-image is none
            incoming.commit()
        _mode(scope, step)
    finally:
        keeper.ended(record, after=keeper.look(scope, location))


def _mode(scope: Scope, step: Step) -> None:
    """The permission bits of back then."""
    fd, info = scope.open_file(scope.locate(step.path))
    try:
        if info.st_mode & 0o1777 != step.before.mode:
            os.fchmod(fd, step.before.mode)
    finally:
        os.close(fd)


def diff(place: Place, item: Seen) -> str | None:
    """What the step would change in a text file, as a unified diff; None for what is no text or too large."""
    step = item.step
    if step.action not in ("restore", "remove") or item.done or not step.physical:
        return None
    old = _text(b"".join(place.keeper.content(step.before))) if step.action == "restore" and 0 <= step.before.size <= DIFF_BYTES else ""
    now = _now(place, step, item.now)
    if old is None or now is None or step.before.size > DIFF_BYTES:
        return None
    lines = difflib.unified_diff(now.splitlines(keepends=True), old.splitlines(keepends=True), f"now/{step.path}", f"then/{step.path}", n=3)
    shown: list[str] = []
    for line in lines:
        if len(shown) >= DIFF_LINES:
            shown.append("...\n")
            break
        shown.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(shown)


def _now(place: Place, step: Step, now: State) -> str | None:
    if now.kind == "absent":
        return ""
    if now.kind != "file" or now.size > DIFF_BYTES:
        return None
    fd, _ = place.scope.open_file(place.scope.locate(step.physical))
    try:
        return _text(os.read(fd, DIFF_BYTES + 1))
    finally:
        os.close(fd)


def _text(raw: bytes) -> str | None:
    known = decode(raw)
    return None if known.binary else known.text
