"""Executors of the reading tools: Read, List and their wire variants, Stat."""

from __future__ import annotations

import mimetypes
import os
import stat
from typing import cast

from handrail.api.files.arguments import ListArgs, PathArgs, ReadArgs
from handrail.api.files.errors import BadOffset, NotText
from handrail.api.files.read import documents, sniff, window
from handrail.api.files.read.window import Window
from handrail.api.files.search.query import Rules
from handrail.api.files.service import INLINE_MAX, FileService
from handrail.api.tools.registry import Invocation, Result
from handrail.kit import names
from handrail.kit.errors import FileError, FileMissing, from_os
from handrail.kit.files import read_open
from handrail.kit.listing import Entry, kind_of, list_directory
from handrail.kit.paths import Location, Scope
from handrail.kit.text import Decoded, decode
from handrail.kit.versions import FileVersion
from handrail.kit.walk import Stop, walk

MEMORY_FILE = "/.ai-helper-agent/memory/global-memory.json"  # below home; the extension asks for it at each chat
READ_BYTES = 200 * 1024  # of text in one answer of Read
LIST_SECONDS = 10.0


async def load(files: FileService, scope: Scope, location: Location) -> tuple[Decoded, os.stat_result]:
    """Decoded content of a regular file. Small files are read here and now, larger ones in a thread. Raises TooLarge, ..."""
    fd, info = scope.open_file(location)
    if info.st_size <= INLINE_MAX:
        return _decoded(fd, info, files.file_max_size, location.path), info
    limit = files.file_max_size
    return await files.run(lambda: _decoded(fd, info, limit, location.path)), info


def _decoded(fd: int, info: os.stat_result, limit: int, path: str) -> Decoded:
    """Closes `fd`."""
    try:
        return decode(read_open(fd, info, limit, path))
    finally:
        os.close(fd)


async def read_wire(files: FileService, call: Invocation) -> Result:
    """The whole file as text, with what is needed to write it back unharmed."""
    path = cast("PathArgs", call.args).path
    scope = files.scope(call.actor)
    try:
        location = scope.locate(path)
    except FileError as exc:
        if is_memory_file(path, files.home):
            raise FileMissing(path) from exc
        raise
    found, info = await load(files, scope, location)
    return {
        "success": True,
        "content": found.text,
        "size": info.st_size,
        "path": location.path,
        "encoding": found.encoding,
        "bom": found.bom,
        "lossy": found.lossy,
        "binary": found.binary,
        "version": str(FileVersion.of(info)),
    }


def is_memory_file(path: str, home: str) -> bool:
    """Whether it is the extension's memory file, which is not there while there is no memory."""
    return path in {"~" + MEMORY_FILE, home + MEMORY_FILE}


async def read(files: FileService, call: Invocation) -> Result:
    """Numbered lines, at most READ_BYTES of them, of a file of any size."""
    args = cast("ReadArgs", call.args)
    scope = files.scope(call.actor)
    location = scope.locate(args.path)
    try:
        fd, info = scope.open_file(location)
    except FileMissing:
        files.seen.forget(call.actor, location)
        raise
    try:
        kind = sniff.kind_of(os.pread(fd, sniff.HEAD, 0), location.name)
        if kind not in {"text", "old-office"}:
            version = await files.run(lambda: FileVersion.of_open(fd, info, files.file_max_size))
            files.seen.put(call.actor, location, version, whole=False)
            found = await documents.read(files, location, fd, info, kind, args)
            return _placed(scope, location) | found | {"size": info.st_size, "version": str(version)}
        shown, version = await files.run(lambda: _windowed(fd, info, location, args, files.file_max_size))
    except OSError as exc:
        raise from_os(exc, location.path) from exc
    finally:
        os.close(fd)
    return _shown(files, call, scope, location, shown, version)


def _placed(scope: Scope, location: Location) -> Result:
    return {"path": _display(scope, location), "absolutePath": location.path}


def _shown(files: FileService, call: Invocation, scope: Scope, location: Location, found: Window, version: FileVersion) -> Result:
    args = cast("ReadArgs", call.args)
    last = found.lines[-1][0] if found.lines else args.start_line - 1
    whole = args.start_line == 1 and not args.line_offset and not found.more
    files.seen.put(call.actor, location, version, whole=whole)
    answer: Result = {
        **_placed(scope, location),
        "kind": "text",
        "content": "".join(f"{number:6}\t{line}" for number, line in found.lines),
        "startLine": args.start_line,
        "endLine": last,
        "totalLines": found.total,
        "view": "full" if whole else "partial",
        "truncated": (found.more and last - args.start_line + 1 < args.limit) or found.cut,
        "lineCut": found.cut,
        "encoding": found.encoding,
        "bom": found.bom,
        "size": version.size,
        "version": str(version),
    }
    if found.lossy:
        answer["lossy"] = True
    if found.more:
        answer["next"] = {"start_line": found.next_line, "line_offset": found.next_offset}
    return answer


def _windowed(fd: int, info: os.stat_result, location: Location, args: ReadArgs, limit: int) -> tuple[Window, FileVersion]:
    try:
        found = window.read(fd, info.st_size, start=args.start_line, limit=args.limit, offset=args.line_offset, room=READ_BYTES)
    except window.NotAnOffset as exc:
        raise BadOffset(offset=args.line_offset, line=args.start_line, path=location.path) from exc
    if found is None:
        raise NotText(path=location.path, hint=sniff.hint(os.pread(fd, sniff.HEAD, 0)))
    return found, FileVersion.of_open(fd, info, limit)


def _display(scope: Scope, location: Location) -> str:
    if location.root is scope.workdir:
        return names.to_text(location.relative) or "."
    return location.path


async def list_wire(files: FileService, call: Invocation) -> Result:
    """All entries of one directory."""
    scope = files.scope(call.actor)
    location = scope.locate(cast("PathArgs", call.args).path)
    entries = await files.run(lambda: [_entry(entry) for entry in list_directory(scope, location)])
    return {"success": True, "entries": entries, "path": location.path}


def _entry(entry: Entry) -> dict[str, object]:
    name, kind, size, mtime, is_link, odd_name = entry
    out: dict[str, object] = {"name": name, "type": kind, "size": size, "mtime": mtime}
    if is_link:
        out["isSymbolicLink"] = True
    if odd_name:
        out["escapedName"] = True
    return out


async def stat_wire(files: FileService, call: Invocation) -> Result:
    """The entry itself, a link not followed."""
    scope = files.scope(call.actor)
    location = scope.locate(cast("PathArgs", call.args).path)
    return {"success": True, "info": await files.run(lambda: _info(scope, location))}


def _info(scope: Scope, location: Location) -> dict[str, object]:
    info = scope.lstat(location)
    mode = info.st_mode
    is_link = stat.S_ISLNK(mode)
    out: dict[str, object] = {
        "name": location.name,
        "path": location.path,
        "type": "symlink" if is_link else kind_of(mode),
        "size": info.st_size,
        "mtime": info.st_mtime * 1000,
        "ctime": info.st_ctime * 1000,
        "atime": info.st_atime * 1000,
        "mode": mode,
        "permissions": stat.filemode(mode)[1:],
        "isDirectory": stat.S_ISDIR(mode),
        "isFile": stat.S_ISREG(mode),
        "isSymbolicLink": is_link,
        "uid": info.st_uid,
        "gid": info.st_gid,
    }
    if stat.S_ISREG(mode):
        out["mimeType"] = mimetypes.guess_type(location.name)[0] or "application/octet-stream"
    if is_link:
        out |= _link(scope, location)
    return out


def _link(scope: Scope, location: Location) -> dict[str, object]:
    """What a link says and, if that is inside, what it leads to."""
    with scope.entry(location) as spot:
        target = names.to_text(os.readlink(spot.name, dir_fd=spot.dir_fd))
    try:
        kind = kind_of(scope.stat(location).st_mode)
    except FileError as exc:
        return {"linkTarget": target, "targetType": "unknown", "targetProblem": exc.code}
    return {"linkTarget": target, "targetType": kind}


async def list_tree(files: FileService, call: Invocation) -> Result:
    """Entries down to a depth, by path, a page of them."""
    args = cast("ListArgs", call.args)
    scope = files.scope(call.actor)
    start = scope.locate(args.path)
    stop = Stop(LIST_SECONDS)
    try:
        paths = await files.run_search(lambda: _tree(scope, start, args, stop))
    finally:
        stop.now()
    page = paths[args.offset : args.offset + args.max_results]
    return {
        "path": _display(scope, start),
        "entries": page,
        "total": len(paths),
        "offset": args.offset,
        "hasMore": args.offset + len(page) < len(paths) or stop_hit(stop),
        "timedOut": stop_hit(stop),
    }


def stop_hit(stop: Stop) -> bool:
    """Whether the walk ended early (asking for the end afterwards does not count)."""
    return stop.hit


def _tree(scope: Scope, start: Location, args: ListArgs, stop: Stop) -> list[dict[str, object]]:
    if kind_of(scope.stat(start).st_mode) == "file":
        return [{"path": _display(scope, start), "type": "file"}]
    rules = Rules(ignore=not args.include_ignored, everything=args.include_ignored)
    prefix = "" if start.root is scope.workdir and not start.relative else _display(scope, start) + "/"
    return [
        {
            "path": prefix + names.to_text(found.relative),
            "type": "directory" if found.is_dir else "file" if found.is_file else "link" if found.is_link else "unknown",
        }
        for found in walk(scope, start, stop, enter=rules.enter, depth=args.depth, ignore=rules.ignore)
    ]
