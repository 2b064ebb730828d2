"""Uploads that are not finished: what has arrived waits in our own directory until the rest comes or a day is over.

`<data>/uploads/<workspace>/<user>/<id>/` holds `meta.json` and `part`. Commands cannot reach it, so what was received is
what is hashed and put in its place. A lock on the directory keeps two senders of one upload apart.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

import orjson

from handrail.kit import canonical, tree
from handrail.kit.clock import Clock
from handrail.kit.errors import FileError, from_os

LIFE_MS = 24 * 3600 * 1000
COPY = 1 << 20  # bytes a read
_ID = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_-]{7,63}$")
_OWNER = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")
_DIR = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class UploadIdInvalid(FileError):
    """Not a plain name."""

    code = "upload.id"
    status = 400
    en = "uploadId must be 8 to 64 letters, digits, - or _."
    zh = "uploadId 必须为 8 到 64 个字母、数字、- 或 _。"


class UploadUnknown(FileError):
    """Not there, expired, or another user's."""

    code = "upload.unknown"
    status = 404
    en = "There is no unfinished upload with this uploadId."
    zh = "没有该 uploadId 的未完成上传。"


class UploadBusy(FileError):
    """Two senders of one upload."""

    code = "upload.busy"
    status = 409
    en = "This upload is being sent by another request."
    zh = "该上传正由另一个请求发送。"


class UploadDiffers(FileError):
    """The id stands for an upload of another target, size or hash."""

    code = "upload.differs"
    status = 409
    en = "This uploadId belongs to an upload of another target, size or hash."
    zh = "该 uploadId 属于另一个目标、大小或哈希不同的上传。"


@dataclass(frozen=True, slots=True)
class Plan:
    """What an upload is to become. Sizes in bytes, times in ms."""

    path: str
    total: int
    sha256: str  # hex, "" when the sender did not say
    started: int


class Part:
    """One unfinished upload, locked. Blocking. `close` it in any case."""

    def __init__(self, home: Path, upload_id: str, plan: Plan) -> None:
        self._home = home
        self._id = upload_id
        self._fd = -1
        path = home / upload_id
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._dir = os.open(path, _DIR)
        try:
            fcntl.flock(self._dir, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _agree(self._dir, plan)
            self._fd = os.open(b"part", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=self._dir)
            self.received = os.lseek(self._fd, 0, os.SEEK_END)
        except BlockingIOError as exc:
            self.close()
            raise UploadBusy from exc
        except BaseException:
            self.close()
            raise

    @property
    def directory(self) -> int:
        """The open directory that it lies in."""
        return self._dir

    def write(self, data: bytes | memoryview) -> None:
        """Append. Raises NoSpace, ..."""
        view = memoryview(data)
        try:
            while view:
                written = os.write(self._fd, view)
                self.received += written
                view = view[written:]
        except OSError as exc:
            raise from_os(exc, self._id) from exc

    def pieces(self) -> Iterator[bytes]:
        """What has arrived, from its first byte."""
        os.lseek(self._fd, 0, os.SEEK_SET)
        while data := os.read(self._fd, COPY):
            yield data

    def drop(self) -> None:
        """Forget the upload."""
        home = os.open(self._home, _DIR)
        try:
            tree.remove(home, self._id.encode())
        finally:
            os.close(home)

    def close(self) -> None:
        """Let go; what has arrived stays."""
        for fd in (self._fd, self._dir):
            if fd >= 0:
                os.close(fd)
        self._fd = self._dir = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Parts:
    """The unfinished uploads of one user in one workspace."""

    def __init__(self, base: Path, workspace_id: str, user_id: str, clock: Clock) -> None:
        """`base` is `<data>/uploads`. Ids of workspace and user are ours; anything that is not a plain name is a ValueError."""
        if not _OWNER.match(workspace_id) or not _OWNER.match(user_id):
            raise ValueError("workspace or user id is not a plain name")
        self._home = base / workspace_id / user_id
        self._clock = clock

    def open(self, upload_id: str, path: str, total: int, sha256: str) -> Part:
        """A new upload or one to go on with. Raises UploadIdInvalid, UploadBusy, UploadDiffers."""
        return Part(self._home, _checked(upload_id), Plan(path, total, sha256, int(self._clock.now() * 1000)))

    def status(self, upload_id: str) -> tuple[Plan, int]:
        """Its plan and the bytes that have arrived. Raises UploadUnknown."""
        try:
            fd = os.open(self._home / _checked(upload_id), _DIR)
        except OSError as exc:
            raise UploadUnknown from exc
        try:
            plan = _read_meta(fd)
            if plan is None:
                raise UploadUnknown
            return plan, _size(fd)
        finally:
            os.close(fd)

    def drop(self, upload_id: str) -> None:
        """Forget an upload that nobody is sending. Raises UploadUnknown, UploadBusy."""
        plan, _ = self.status(upload_id)
        with Part(self._home, upload_id, plan) as part:
            part.drop()

    def used(self) -> int:
        """Bytes of all of them."""
        total = 0
        for name in _names(self._home):
            with contextlib.suppress(OSError):
                total += os.stat(self._home / name / "part").st_size
        return total

    def sweep(self, life_ms: int = LIFE_MS) -> int:
        """Remove what got nothing for `life_ms`; how many went."""
        oldest = self._clock.now() - life_ms / 1000
        gone = 0
        for name in _names(self._home):
            with contextlib.suppress(OSError, FileError):
                path = self._home / name
                part = path / "part"
                if os.stat(part if part.exists() else path).st_mtime < oldest:
                    self.drop(name)
                    gone += 1
        return gone


def every_part(base: Path, clock: Clock) -> Iterator[Parts]:
    """The unfinished uploads of everybody, for the periodic sweep."""
    for workspace in _names(base):
        for user in _names(base / workspace):
            if _OWNER.match(workspace) and _OWNER.match(user):
                yield Parts(base, workspace, user, clock)


def _agree(dir_fd: int, plan: Plan) -> None:
    known = _read_meta(dir_fd)
    if known is None:
        _write_meta(dir_fd, plan)
    elif (known.path, known.total, known.sha256) != (plan.path, plan.total, plan.sha256):
        raise UploadDiffers


def _checked(upload_id: str) -> str:
    if not _ID.match(upload_id):
        raise UploadIdInvalid
    return upload_id


def _names(path: Path) -> list[str]:
    try:
        return sorted(os.listdir(path))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _size(dir_fd: int) -> int:
    try:
        return os.stat(b"part", dir_fd=dir_fd, follow_symlinks=False).st_size
    except FileNotFoundError:
        return 0


def _write_meta(dir_fd: int, plan: Plan) -> None:
    raw = orjson.dumps({"path": plan.path, "total": plan.total, "sha256": plan.sha256, "started": plan.started})
    fd = os.open(b"meta.json", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=dir_fd)
    try:
        os.write(fd, raw)
    finally:
        os.close(fd)


def _read_meta(dir_fd: int) -> Plan | None:
    try:
        fd = os.open(b"meta.json", os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=dir_fd)
    except FileNotFoundError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        meta = cast("dict[str, Any]", canonical.loads(os.read(fd, COPY)))
        return Plan(str(meta["path"]), int(meta["total"]), str(meta["sha256"]), int(meta["started"]))
    except (canonical.StrictJsonError, KeyError, TypeError, ValueError):
        return None  # cut by a kill: the upload begins anew
    finally:
        os.close(fd)
