"""The trash: one directory an entry, nothing shared, so parallel deletes lose nothing.

`<data>/trash/<workspace>/<user>/<id>/` holds `meta.json` (written and synced first) and `data` (what was deleted, moved in by
one rename). An entry without `data` is a delete that did not happen or a copy that was cut: the original is still in its
place, so the sweep removes it once nobody holds its lock.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import secrets
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from handrail.kit import moves, tree
from handrail.kit.clock import Clock
from handrail.kit.component_walk import Spot
from handrail.kit.errors import AlreadyExists, FileMissing, OriginalPlaceTaken, ParentGone, TrashIdMissing, UnknownTrashId, from_os
from handrail.kit.paths import Location, Scope

RETENTION_MS = 7 * 24 * 3600 * 1000
DATA, PART, META = b"data", b"data.part", b"meta.json"
_ID = re.compile(r"^[0-9]{13}_[a-z0-9]{6}$")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"
_OWNER = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")
_DIR = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Trashed:
    """An entry of the trash. Times in ms since the epoch, sizes in bytes."""

    id: str
    original_path: str
    name: str
    size: int
    deleted_at: int
    is_dir: bool
    deleted_by: str


class Trash:
    """The trash of one user in one workspace."""

    def __init__(self, base: Path, workspace_id: str, user_id: str, clock: Clock) -> None:
        """`base` is `<data>/trash`. The ids are ours (UUIDs); anything that is not a plain name is a programming error (ValueError)."""
        if not _OWNER.match(workspace_id) or not _OWNER.match(user_id):
            raise ValueError("workspace or user id is not a plain name")
        self._home = base / workspace_id / user_id
        self._user = user_id
        self._clock = clock

    def put(self, scope: Scope, location: Location) -> Trashed:
        """Move an entry here; a link is moved itself. Raises FileMissing, RootItself, ProtectedPath, ..."""
        scope.refuse_holder(location)
        with scope.entry(location) as spot:
            info = _lstat(spot, location.path)
            now = int(self._clock.now() * 1000)
            item = Trashed(_new_id(now), location.path, location.name, info.st_size, now, stat.S_ISDIR(info.st_mode), self._user)
            with self._new(item) as entry_fd:
                _take(spot, entry_fd, location.path)
        return item

    def list(self) -> list[Trashed]:
        """Entries that can be restored, oldest first."""
        found = [item for trash_id in self._ids() if (item := self._read(trash_id)) is not None]
        return sorted(found, key=lambda item: (item.deleted_at, item.id))

    def restore(self, scope: Scope, trash_id: str) -> str:
        """Put an entry back to where it was; the absolute path. Never over something that is there now.

        Raises TrashIdMissing, UnknownTrashId (other users' ids too), OriginalPlaceTaken, ParentGone, OutOfBounds.
        """
        if not trash_id:
            raise TrashIdMissing
        item = self._read(trash_id) if _ID.match(trash_id) else None
        if item is None:
            raise UnknownTrashId(trash_id)
        location = scope.locate(item.original_path)
        with self._open(trash_id) as entry_fd, _parent(scope, location) as target:
            source = Spot(target.root, (DATA,), entry_fd, DATA)
            try:
                moves.move_entry(source, target, location.path, location.path)
            except AlreadyExists as exc:
                raise OriginalPlaceTaken(location.path) from exc
            except FileMissing as exc:  # another restore was faster
                raise UnknownTrashId(trash_id) from exc
        self._drop(trash_id)
        return location.path

    def sweep(self, retention_ms: int = RETENTION_MS) -> int:
        """Remove what is older than `retention_ms` and what a crash left half done; how many entries went."""
        oldest = int(self._clock.now() * 1000) - retention_ms
        gone = 0
        for trash_id in self._ids():
            if int(trash_id[:13]) < oldest or self._is_remnant(trash_id):
                gone += self._drop(trash_id)
        return gone

    # --- one entry ---

    @contextmanager
    def _new(self, item: Trashed) -> Generator[int]:
        """A locked entry directory with its metadata on disk; removed again when the body fails."""
        path = self._home / item.id
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.mkdir(mode=0o700)
        fd = os.open(path, _DIR)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _write_meta(fd, item)
            yield fd
        except BaseException:
            if not _has(fd, DATA):
                tree.remove(fd, PART)
                with contextlib.suppress(OSError):
                    os.unlink(META, dir_fd=fd)
                    path.rmdir()
            raise
        finally:
            os.close(fd)

    @contextmanager
    def _open(self, trash_id: str) -> Generator[int]:
        try:
            fd = os.open(self._home / trash_id, _DIR)
        except FileNotFoundError as exc:
            raise UnknownTrashId(trash_id) from exc
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield fd
        finally:
            os.close(fd)

    def _ids(self) -> list[str]:
        try:
            return sorted(name for name in os.listdir(self._home) if _ID.match(name))
        except FileNotFoundError:
            return []

    def _read(self, trash_id: str) -> Trashed | None:
        try:
            raw = (self._home / trash_id / "meta.json").read_bytes()
            os.lstat(self._home / trash_id / "data")
            meta: dict[str, Any] = orjson.loads(raw)
            return Trashed(
                id=trash_id,
                original_path=str(meta["originalPath"]),
                name=str(meta["name"]),
                size=int(meta["size"]),
                deleted_at=int(meta["deletedAt"]),
                is_dir=bool(meta["isDir"]),
                deleted_by=str(meta["deletedBy"]),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _is_remnant(self, trash_id: str) -> bool:
        """No data and nobody at work on it."""
        with contextlib.suppress(OSError):
            fd = os.open(self._home / trash_id, _DIR)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return not _has(fd, DATA)
            finally:
                os.close(fd)
        return False

    def _drop(self, trash_id: str) -> bool:
        with contextlib.suppress(OSError):
            fd = os.open(self._home, _DIR)
            try:
                tree.remove(fd, trash_id.encode())
                return True
            finally:
                os.close(fd)
        return False


def every_trash(base: Path, clock: Clock) -> Iterator[Trash]:
    """All trash directories below `base`, for the periodic sweep."""
    for workspace in sorted(base.glob("*")):
        for user in sorted(workspace.glob("*")):
            if _OWNER.match(workspace.name) and _OWNER.match(user.name):
                yield Trash(base, workspace.name, user.name, clock)


def _new_id(now_ms: int) -> str:
    return f"{now_ms:013}_{''.join(secrets.choice(_ALPHABET) for _ in range(6))}"


def _lstat(spot: Spot, path: str) -> os.stat_result:
    try:
        return os.stat(spot.name, dir_fd=spot.dir_fd, follow_symlinks=False)
    except OSError as exc:
        raise from_os(exc, path) from exc


def _take(spot: Spot, entry_fd: int, path: str) -> None:
    try:
        os.rename(spot.name, DATA, src_dir_fd=spot.dir_fd, dst_dir_fd=entry_fd)
    except OSError as exc:
        if exc.errno != errno.EXDEV:
            raise from_os(exc, path) from exc
    else:
        return
    try:
        # another file system: the copy is whole before it gets its name, and only then the original goes
        tree.copy(spot.dir_fd, spot.name, entry_fd, PART)
        os.rename(PART, DATA, src_dir_fd=entry_fd, dst_dir_fd=entry_fd)
        os.fsync(entry_fd)
        tree.remove(spot.dir_fd, spot.name)
    except OSError as exc:
        raise from_os(exc, path) from exc


@contextmanager
def _parent(scope: Scope, location: Location) -> Generator[Spot]:
    try:
        scope.stat(Location(location.root, location.relative.rpartition(b"/")[0], location.path.rpartition("/")[0]))
    except FileMissing as exc:
        raise ParentGone(location.path) from exc
    with scope.entry(location) as spot:
        yield spot


def _has(fd: int, name: bytes) -> bool:
    try:
        os.stat(name, dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _write_meta(entry_fd: int, item: Trashed) -> None:
    fd = os.open(META, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=entry_fd)
    try:
        os.write(
            fd,
            orjson.dumps(
                {
                    "originalPath": item.original_path,
                    "name": item.name,
                    "size": item.size,
                    "deletedAt": item.deleted_at,
                    "isDir": item.is_dir,
                    "deletedBy": item.deleted_by,
                }
            ),
        )
        os.fsync(fd)
    finally:
        os.close(fd)


__all__ = ["Trash", "Trashed", "every_trash"]
