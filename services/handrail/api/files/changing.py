"""Executors of the changing tools: Write, Delete and their wire variants, directories, moves, trash."""

from __future__ import annotations

import base64
import binascii
import os
from typing import cast

from handrail.api.context import Actor
from handrail.api.files.arguments import DeleteArgs, MoveArgs, PathArgs, RenameArgs, RestoreArgs, WireWriteArgs, WriteArgs
from handrail.api.files.base import NOTICE, expected, line_count
from handrail.api.files.errors import BadBase64
from handrail.api.files.service import FileService
from handrail.api.tools.registry import Invocation, Result
from handrail.kit import files as kit_files
from handrail.kit import moves
from handrail.kit.errors import AlreadyExists, DirectoryMissing, FileError, FileMissing, StaleFile, TooLarge
from handrail.kit.files import Written
from handrail.kit.paths import Location, Scope
from handrail.kit.text import SAMPLE, Encoding, decode, encode
from handrail.kit.trash import Trashed
from handrail.kit.versions import FileVersion

ABSENT = "absent"  # the expected version of a file that must not exist
DELETED = {"en": "Moved to the trash; it can be restored for 7 days.", "zh": "已移入回收站，7 天内可恢复。"}


async def write_wire(files: FileService, call: Invocation) -> Result:
    """A whole file from text or base64."""
    args = cast("WireWriteArgs", call.args)
    scope = files.scope(call.actor)
    location = scope.locate(args.path)
    expect = None if args.expectedVersion is None else expected(args.expectedVersion)

    def put(data: bytes) -> Written:
        files.before_change(call.actor, [location])
        return kit_files.write(scope, location, data, expect=expect)

    if args.encoding == "base64":
        data = _unbase64(args.content)
        _limit(files, location, len(data))
        written = await files.run(lambda: put(data))
        return {"success": True, "size": written.size, "path": location.path, "version": _stamp(written)}
    _limit(files, location, len(args.content))

    def work() -> Result:
        data, encoding, bom = _as_bytes(files, scope, location, args.content)
        written = put(data)
        return {"success": True, "size": written.size, "path": location.path, "encoding": encoding, "bom": bom, "version": _stamp(written)}

    return await files.run(work)


def _stamp(written: Written) -> str:
    """The version without a hash: the wire's routes do not read what they write."""
    version = written.version
    return str(FileVersion(version.size, version.mtime_ns, version.ino))


async def write(files: FileService, call: Invocation) -> Result:
    """The whole text of a file; an existing file keeps its encoding, and must be what the caller saw of it."""
    args = cast("WriteArgs", call.args)
    scope = files.scope(call.actor)
    location = scope.locate(args.path)
    _limit(files, location, len(args.content))
    return await files.run(lambda: _write(files, scope, location, args, call.actor))


def _write(files: FileService, scope: Scope, location: Location, args: WriteArgs, actor: Actor) -> Result:
    expect, auto_read = _expected(files, scope, location, args, actor)
    data, encoding, bom = _as_bytes(files, scope, location, args.content)
    files.before_change(actor, [location])
    try:
        written = kit_files.write(scope, location, data, expect=expect, exclusive=expect is None)
    except AlreadyExists as exc:  # it was not there a moment ago: somebody else was faster
        raise StaleFile(location.path) from exc
    version = FileVersion.written(written.version, data)
    files.seen.put(actor, location, version, whole=True)
    answer: Result = {
        "path": location.path,
        "created": written.created,
        "size": written.size,
        "totalLines": line_count(args.content),
        "encoding": encoding,
        "bom": bom,
        "version": str(version),
    }
    return answer | {"autoRead": "full", "notice": NOTICE[actor.lang]} if auto_read else answer


def _expected(
    files: FileService, scope: Scope, location: Location, args: WriteArgs, actor: Actor
) -> tuple[kit_files.Version | FileVersion | None, bool]:
    """The version that must be there (None: no file must be), and whether it is only known because it was looked at now."""
    if args.expected_version is not None:
        return (None if args.expected_version == ABSENT else expected(args.expected_version)), False
    sight = files.seen.get(actor, location)
    if sight is not None and sight.whole:
        return sight.version, False
    try:
        fd, info = scope.open_file(location)
        os.close(fd)
    except FileMissing:
        if sight is not None:
            raise StaleFile(location.path) from None
        return None, False
    now = FileVersion.of(info)
    if sight is not None and not sight.version.matches(now):
        raise StaleFile(location.path)
    return kit_files.Version.of(info), True


def _as_bytes(files: FileService, scope: Scope, location: Location, text: str) -> tuple[bytes, Encoding, bool]:
    encoding, bom = _encoding_of(scope, location, text, files.file_max_size)
    try:
        data = encode(text, encoding, bom=bom)
    except UnicodeEncodeError:  # the old encoding has no such character: UTF-8 has
        encoding, bom = "utf-8", False
        data = encode(text, encoding)
    _limit(files, location, len(data))
    return data, encoding, bom


def _encoding_of(scope: Scope, location: Location, text: str, limit: int) -> tuple[Encoding, bool]:
    """Encoding and byte order mark of the text that is there, UTF-8 when there is none (or it does not matter)."""
    try:
        head, size = _head(scope, location)
        plain = head.isascii() and b"\0" not in head
        if text.startswith("\ufeff") or (plain and (size <= SAMPLE or text.isascii())):
            return "utf-8", False
        old = decode(head if size <= SAMPLE else kit_files.read(scope, location, limit)[0])
    except FileError:  # nothing there; what cannot be written fails at the write
        return "utf-8", False
    return ("utf-8", False) if old.binary else (old.encoding, old.bom)


def _head(scope: Scope, location: Location) -> tuple[bytes, int]:
    """The first SAMPLE bytes of the old file and its size."""
    fd, info = scope.open_file(location)
    try:
        return os.pread(fd, SAMPLE, 0), info.st_size
    finally:
        os.close(fd)


def _unbase64(content: str) -> bytes:
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError) as exc:
        raise BadBase64 from exc


def _limit(files: FileService, location: Location, size: int) -> None:
    if size > files.file_max_size:
        raise TooLarge(location.path, size=size, limit=files.file_max_size)


async def mkdir(files: FileService, call: Invocation) -> Result:
    """One directory; the one above must exist."""
    scope = files.scope(call.actor)
    location = scope.locate(cast("PathArgs", call.args).path)
    try:
        await files.run(lambda: kit_files.make_directory(scope, location))
    except FileMissing as exc:
        raise DirectoryMissing(location.path.rpartition("/")[0]) from exc
    return {"success": True, "path": location.path}


async def rename(files: FileService, call: Invocation) -> Result:
    """Another name in the same directory."""
    args = cast("RenameArgs", call.args)
    scope = files.scope(call.actor)
    location = scope.locate(args.path)
    target = await files.run(lambda: moves.rename(scope, location, args.newName))
    files.seen.forget(call.actor, location, below=True)
    return {"success": True, "newPath": target.path, "newName": args.newName}


async def move(files: FileService, call: Invocation) -> Result:
    """Into another directory, which must exist."""
    args = cast("MoveArgs", call.args)
    scope = files.scope(call.actor)
    location, directory = scope.locate(args.path), scope.locate(args.destDir)
    target = await files.run(lambda: moves.move(scope, location, directory))
    files.seen.forget(call.actor, location, below=True)
    return {"success": True, "newPath": target.path}


async def delete(files: FileService, call: Invocation) -> Result:
    """Into the trash."""
    scope = files.scope(call.actor)
    location = scope.locate(cast("DeleteArgs | PathArgs", call.args).path)
    trash = files.trash(call.actor)
    item = await files.run(lambda: trash.put(scope, location))
    files.seen.forget(call.actor, location, below=True)
    return {"success": True, "path": location.path, "isDir": item.is_dir, "trashId": item.id, "message": DELETED[call.actor.lang]}


async def trash_list(files: FileService, call: Invocation) -> Result:
    """What can be restored, oldest first."""
    trash = files.trash(call.actor)

    def work() -> list[Trashed]:
        trash.sweep()
        return trash.list()

    return {"success": True, "entries": [_trashed(item) for item in await files.run(work)]}


def _trashed(item: Trashed) -> dict[str, object]:
    return {
        "id": item.id,
        "originalPath": item.original_path,
        "name": item.name,
        "size": item.size,
        "deletedAt": item.deleted_at,
        "isDir": item.is_dir,
        "deletedBy": item.deleted_by,
    }


async def restore(files: FileService, call: Invocation) -> Result:
    """Back to its place."""
    args = cast("RestoreArgs", call.args)
    scope, trash = files.scope(call.actor), files.trash(call.actor)
    return {"success": True, "restoredPath": await files.run(lambda: trash.restore(scope, args.trashId))}
