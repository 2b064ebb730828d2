"""Executors of the transfer tools."""

from __future__ import annotations

import os
from typing import cast

from handrail.api.files import transfer_arguments as a
from handrail.api.files.service import FileService
from handrail.api.files.transfer_errors import HashDiffers, OffsetDiffers, UploadAborted, UploadTooLarge
from handrail.api.files.transfer_sources import Source, open_source
from handrail.api.files.transfers import Body, Transfers
from handrail.api.tools.registry import Invocation, Result
from handrail.kit.errors import AlreadyExists, TooLarge
from handrail.kit.files import Written
from handrail.kit.incoming import Incoming
from handrail.kit.parts import LIFE_MS, Part
from handrail.kit.paths import Location, Scope

NAMES_TRIED = 10_000


async def download(files: FileService, transfers: Transfers, call: Invocation) -> Result:
    """A source that the route sends."""
    args = cast("a.DownloadArgs", call.args)
    scope = files.scope(call.actor)

    def work() -> Source:
        source = open_source(scope, args.paths, now=transfers.clock.now(), several=args.several)
        if args.encoded and source.size > files.file_max_size:
            source.close()
            raise TooLarge(source.name, size=source.size, limit=files.file_max_size)
        return source

    transfers.claim(call.actor.user_id)  # the answer releases it
    try:
        source = await transfers.run(work)
    except BaseException:
        transfers.release(call.actor.user_id)
        raise
    return {"source": source, "size": source.size}


async def upload(files: FileService, transfers: Transfers, call: Invocation) -> Result:
    """The body into a file, which is seen when its last byte has come."""
    args = cast("a.UploadArgs", call.args)
    scope = files.scope(call.actor)
    location = scope.locate(args.path)
    transfers.refuse_size(args.size)
    with transfers.place(call.actor):
        incoming = await transfers.run(lambda: Incoming(scope, location))
        try:
            await _receive(transfers, call, incoming, args.size)
            _check_hash(args.sha256, incoming.sha256)
            written = await transfers.run(lambda: incoming.commit(exclusive=not args.overwrite))
        finally:
            await transfers.run(incoming.close)
    return _done(location, written, incoming.sha256)


async def _receive(transfers: Transfers, call: Invocation, incoming: Incoming, size: int | None) -> None:
    received = await transfers.receive(_body(call), incoming, most=transfers.limits.upload, space=incoming.directory)
    if size is not None and received != size:
        raise UploadAborted(received=received)


def _body(call: Invocation) -> Body:
    if call.body is None:
        raise RuntimeError("an upload comes with a body")
    return call.body


def _check_hash(announced: str, actual: str) -> None:
    if announced and announced != actual:
        raise HashDiffers(actual=actual)


def _done(location: Location, written: Written, digest: str) -> Result:
    return {"success": True, "size": written.size, "path": location.path, "created": written.created, "sha256": digest, "complete": True}


async def upload_part(files: FileService, transfers: Transfers, call: Invocation) -> Result:
    """The next piece of an upload that survives a broken connection; the last one puts the file in its place."""
    args = cast("a.UploadPartArgs", call.args)
    scope = files.scope(call.actor)
    location = scope.locate(args.path)
    transfers.refuse_size(args.total)
    parts = transfers.parts(call.actor)

    def begin() -> Part:
        part = parts.open(args.upload_id, location.path, args.total, args.sha256)
        if part.received != args.offset:
            received = part.received
            if not received:
                part.drop()
            part.close()
            raise OffsetDiffers(offset=args.offset, expected=received, extra={"offset": received})
        return part

    with transfers.place(call.actor):
        await transfers.run(lambda: transfers.refuse_unfinished(call.actor, args.total - args.offset))
        part = await transfers.run(begin)
        try:
            try:
                await transfers.receive(_body(call), part, most=args.total, begun=args.offset, space=part.directory)
            except UploadTooLarge:
                await transfers.run(part.drop)
                raise
            if part.received < args.total:
                return {"success": True, "size": part.received, "path": location.path, "complete": False, "offset": part.received}
            written, digest = await transfers.run(lambda: _assemble(scope, location, part, args.sha256))
        finally:
            await transfers.run(part.close)
    return _done(location, written, digest)


def _assemble(scope: Scope, location: Location, part: Part, announced: str) -> tuple[Written, str]:
    """The parts as a file in its place. What does not have the announced hash is forgotten, it would never have it."""
    with Incoming(scope, location) as incoming:
        for piece in part.pieces():
            incoming.write(piece)
        try:
            _check_hash(announced, incoming.sha256)
        except HashDiffers:
            part.drop()
            raise
        written = incoming.commit()
        part.drop()
        return written, incoming.sha256


async def upload_status(_files: FileService, transfers: Transfers, call: Invocation) -> Result:
    """How far an unfinished upload is."""
    upload_id = cast("a.UploadIdArgs", call.args).upload_id
    parts = transfers.parts(call.actor)
    plan, received = await transfers.run(lambda: parts.status(upload_id))
    return {
        "success": True,
        "uploadId": upload_id,
        "path": plan.path,
        "offset": received,
        "total": plan.total,
        "sha256": plan.sha256,
        "expiresAt": plan.started + LIFE_MS,
    }


async def upload_drop(_files: FileService, transfers: Transfers, call: Invocation) -> Result:
    """Forget an unfinished upload."""
    upload_id = cast("a.UploadIdArgs", call.args).upload_id
    parts = transfers.parts(call.actor)
    await transfers.run(lambda: parts.drop(upload_id))
    return {"success": True, "uploadId": upload_id}


async def stage(files: FileService, transfers: Transfers, call: Invocation) -> Result:
    """A new file in the work root; a name that is taken gets _1, _2, ..."""
    args = cast("a.StageArgs", call.args)
    scope = files.scope(call.actor)
    root = Location(scope.workdir, b"", scope.workdir.path)
    location = root.child(os.fsencode(args.name))
    transfers.refuse_size(args.size)
    with transfers.place(call.actor):
        incoming = await transfers.run(lambda: Incoming(scope, root.child(b".handrail-upload.tmp")))
        try:
            await _receive(transfers, call, incoming, None)
            location, written = await transfers.run(lambda: _free_name(root, args.name, incoming))
        finally:
            await transfers.run(incoming.close)
    return {"success": True, "path": location.path, "name": args.name, "size": written.size, "sha256": incoming.sha256}


def _free_name(root: Location, name: str, incoming: Incoming) -> tuple[Location, Written]:
    stem, dot, extension = name.rpartition(".")
    if not stem:
        stem, dot, extension = name, "", ""
    for number in range(NAMES_TRIED):
        location = root.child(f"{stem}{f'_{number}' if number else ''}{dot}{extension}".encode())
        try:
            return location, incoming.commit_as(location, exclusive=True)
        except AlreadyExists:
            continue
    raise AlreadyExists(root.child(name.encode()).path)
