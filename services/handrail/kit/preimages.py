"""Pre-images: what was at a place before a tool changed it, kept as content by hash with one append-only index a conversation.

`<data>/undo/<workspace>/<user>/<conversation>/` holds `index.jsonl` (each line one write(2)) and `blobs/<sha256>`. The line with the
pre-image is there before the change, a second one with the outcome after it. Blocking.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

import orjson

from handrail.kit import canonical, tree
from handrail.kit.clock import Clock
from handrail.kit.errors import FileError, FileMissing
from handrail.kit.paths import Location, Scope

RETENTION_MS = 7 * 24 * 3600 * 1000
BLOB_MAX = 32 << 20  # bytes of one pre-image
CONVERSATION_MAX = 512 << 20  # bytes of pre-images of one conversation
RECORDS_MAX = 10_000  # of one conversation
CONVERSATIONS = 32  # of one user in one workspace
GAPS = 64  # more, that only say that there is no way back
PIECE = 1 << 20
INLINE = 4096  # bytes of a pre-image that is kept in the index itself
CONVERSATION = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$")
_DIR = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
Kind = Literal["absent", "file", "directory", "other"]
RecordKind = Literal["file", "made", "moved", "trashed", "gap"]


@dataclass(frozen=True, slots=True)
class State:
    """What is at a place. `sha256` is of the content, "" when it was too large to look at; then `mark` tells versions apart."""

    kind: Kind
    sha256: str = ""
    size: int = 0
    mode: int = 0
    mark: str = ""
    inline: str = ""  # base64 of a small content that was kept: one line is cheaper than a file

    def same(self, other: State) -> bool:
        """Whether the content is the same; modes are not content."""
        return (self.kind, self.sha256, self.size, self.mark) == (other.kind, other.sha256, other.size, other.mark)


ABSENT = State("absent")


@dataclass(frozen=True, slots=True)
class Record:
    """One change. `after` None: how it ended is not known. `turn` names what belongs together; `at` in ms."""

    seq: int
    turn: str
    at: int
    tool: str
    kind: RecordKind
    path: str
    to: str = ""
    before: State | None = None
    after: State | None = None
    trash_id: str = ""
    ended: bool = False


class Keeper:
    """The pre-images of one user in one conversation of one workspace."""

    def __init__(self, base: Path, workspace_id: str, user_id: str, conversation: str, clock: Clock) -> None:
        """`base` is `<data>/undo`. Raises ValueError for names that are not plain."""
        if not all(CONVERSATION.match(name) for name in (workspace_id, user_id, conversation)):
            raise ValueError("not a plain name")
        self.conversation = conversation
        self._home = base / workspace_id / user_id / conversation
        self._clock = clock
        self._known = (-1, 0, 0)  # bytes of the index when it was read last, last number, bytes of pre-images

    # --- looking ---

    def look(self, scope: Scope, location: Location) -> State:
        """What is there now, links followed inside of the roots. Raises FileError for what cannot be looked at."""
        return _read(scope, location, None)

    def keep(self, scope: Scope, location: Location) -> State:
        """`look`, with the content of a file kept, as long as there is room for it (`has`)."""
        seq, size = self._end()
        return _read(scope, location, self._blob if size < CONVERSATION_MAX and seq <= RECORDS_MAX else None)

    @contextmanager
    def _blob(self) -> Generator[_Blob]:
        blobs = self._home / "blobs"
        blobs.mkdir(mode=0o700, parents=True, exist_ok=True)
        blob = _Blob(blobs)
        try:
            yield blob
        finally:
            blob.close()

    def content(self, state: State) -> Iterator[bytes]:
        """The kept content of a file. Raises FileMissing when it is not kept (any more)."""
        if state.inline or not state.size:
            yield base64.b64decode(state.inline)
            return
        try:
            fd = os.open(self._home / "blobs" / (state.sha256 or "-"), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError as exc:
            raise FileMissing(state.sha256) from exc
        try:
            while data := os.read(fd, PIECE):
                yield data
        finally:
            os.close(fd)

    def has(self, state: State) -> bool:
        """Whether `content` would work."""
        if state.inline or (state.sha256 and not state.size):
            return True
        return bool(state.sha256) and (self._home / "blobs" / state.sha256).exists()

    # --- the index ---

    def add(self, record: Record) -> Record:
        """Append with the next number. Over the limits it becomes a gap: the change happens, but there is no way back over it."""
        with self._locked():
            seq, size = self._end()
            kept = record.before.size if record.before is not None and self.has(record.before) else 0
            self._known = (self._known[0], seq, size + kept)
            numbered = replace(record, seq=seq, at=int(self._clock.now() * 1000))
            if seq > RECORDS_MAX or (record.before is not None and record.before.kind == "file" and not kept and record.before.size):
                numbered = replace(numbered, kind="gap", before=None, ended=True)
            if seq <= RECORDS_MAX + GAPS:
                self._append({"record": asdict(numbered)})
            return numbered

    def ended(self, record: Record, *, after: State | None = None, trash_id: str = "", void: bool = False, path: str = "") -> None:
        """Append how a change ended; `void`: nothing was changed."""
        line: dict[str, object] = {"seq": record.seq, "void": void, "trashId": trash_id, "path": path}
        if after is not None:
            line["after"] = asdict(after)
        if record.seq <= RECORDS_MAX + GAPS:
            with self._locked():
                self._append({"end": line})

    def records(self) -> list[Record]:
        """Every change that happened or may have, oldest first. A line that a kill cut is left out."""
        try:
            raw = (self._home / "index.jsonl").read_bytes()
        except FileNotFoundError:
            return []
        found: dict[int, Record] = {}
        for line in raw.split(b"\n"):
            with contextlib.suppress(canonical.StrictJsonError, KeyError, TypeError):
                if line:
                    _take(found, cast("dict[str, Any]", canonical.loads(line)))
        return list(found.values())

    def _append(self, line: dict[str, object]) -> None:
        fd = os.open(self._home / "index.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            raw = orjson.dumps(line) + b"\n"
            before = os.fstat(fd).st_size
            os.write(fd, raw)
            if self._known[0] == before:
                self._known = (before + len(raw), self._known[1], self._known[2])
        finally:
            os.close(fd)

    def _end(self) -> tuple[int, int]:
        """The next number and the bytes of all blobs. The index is read again only when another process has written."""
        try:
            length = (self._home / "index.jsonl").stat().st_size
        except FileNotFoundError:
            length = 0
        if length == self._known[0]:
            return self._known[1] + 1, self._known[2]
        records = self.records()
        # by the index, not by the directory: a pre-image whose record is not written yet is counted when it is
        size = sum(record.before.size for record in records if record.before is not None)
        # numbers of changes that came to nothing may be given again
        self._known = (length, max((record.seq for record in records), default=0), size)
        return self._known[1] + 1, size

    @contextmanager
    def _locked(self) -> Generator[None]:
        self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(self._home, _DIR)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)

    # --- retention ---

    def last_change(self) -> float:
        """Seconds since the epoch; 0 when there is nothing."""
        try:
            return (self._home / "index.jsonl").stat().st_mtime
        except FileNotFoundError:
            return 0.0

    def drop(self) -> None:
        """Forget the conversation's pre-images."""
        with contextlib.suppress(OSError):
            fd = os.open(self._home.parent, _DIR)
            try:
                tree.remove(fd, self.conversation.encode())
            finally:
                os.close(fd)


def conversations(base: Path, workspace_id: str, user_id: str, clock: Clock) -> list[Keeper]:
    """All of a user's in a workspace, the one with the latest change first."""
    found = [Keeper(base, workspace_id, user_id, name, clock) for name in _names(base / workspace_id / user_id)]
    return sorted(found, key=lambda keeper: keeper.last_change(), reverse=True)


def make_room(base: Path, workspace_id: str, user_id: str, clock: Clock) -> int:
    """Before a conversation begins: forget the oldest of the user's while there are CONVERSATIONS; how many."""
    old = conversations(base, workspace_id, user_id, clock)[CONVERSATIONS - 1 :]
    for keeper in old:
        keeper.drop()
    return len(old)


def sweep(base: Path, clock: Clock, retention_ms: int = RETENTION_MS) -> int:
    """Forget conversations without a change for `retention_ms`; how many."""
    gone = 0
    for workspace in _names(base):
        for user in _names(base / workspace):
            for keeper in conversations(base, workspace, user, clock):
                if keeper.last_change() < clock.now() - retention_ms / 1000:
                    keeper.drop()
                    gone += 1
    return gone


def _names(path: Path) -> list[str]:
    try:
        return sorted(name for name in os.listdir(path) if CONVERSATION.match(name))
    except (FileNotFoundError, NotADirectoryError):
        return []


class _Blob:
    """A copy that gets its name when its hash is known."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._temp = directory / f"new-{secrets.token_hex(8)}"
        self._fd = os.open(self._temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._fd, view) :]

    def name(self, digest: str) -> None:
        self._temp.rename(self._directory / digest)

    def close(self) -> None:
        os.close(self._fd)
        with contextlib.suppress(FileNotFoundError):
            self._temp.unlink()


def _read(scope: Scope, location: Location, keep: Callable[[], AbstractContextManager[_Blob]] | None) -> State:
    try:
        info = scope.stat(location)
    except FileMissing:
        return ABSENT
    if stat.S_ISDIR(info.st_mode):
        return State("directory", mode=info.st_mode & 0o1777)
    try:
        fd, info = scope.open_file(location)
    except FileMissing:
        return ABSENT
    except FileError:
        return State("other")
    try:
        if info.st_size > BLOB_MAX:
            return State("file", size=info.st_size, mode=info.st_mode & 0o1777, mark=f"{info.st_ino}.{info.st_mtime_ns}.{info.st_ctime_ns}")
        if info.st_size <= INLINE:
            data = os.read(fd, INLINE + 1)
            if len(data) <= INLINE:
                inline = base64.b64encode(data).decode() if keep is not None else ""
                return State("file", hashlib.sha256(data).hexdigest(), len(data), info.st_mode & 0o1777, inline=inline)
            os.lseek(fd, 0, os.SEEK_SET)
        digest, size = hashlib.sha256(), 0
        with keep() if keep is not None else nullcontext() as blob:
            while data := os.read(fd, PIECE):
                digest.update(data)
                size += len(data)
                if blob is not None:
                    blob.write(data)
            if blob is not None:
                blob.name(digest.hexdigest())
        return State("file", digest.hexdigest(), size, info.st_mode & 0o1777)
    finally:
        os.close(fd)


def _take(found: dict[int, Record], line: dict[str, Any]) -> None:
    if "record" in line:
        values = line["record"]
        for name in ("before", "after"):
            if values[name] is not None:
                values[name] = State(**values[name])
        record = Record(**values)
        found[record.seq] = record
        return
    end = line["end"]
    if end["void"]:
        found.pop(end["seq"], None)
        return
    known = found[end["seq"]]
    after = State(**end["after"]) if end.get("after") else None
    found[end["seq"]] = replace(known, after=after, trash_id=end["trashId"], path=end["path"] or known.path, ended=True)
