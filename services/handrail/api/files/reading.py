"""Executors of the reading tools: Read, List and their wire variants, Stat."""

from __future__ import annotations

import mimetypes
import os
import stat
from typing import cast

from handrail.api.files.arguments import ListArgs, PathArgs, ReadArgs
from handrail.api.files.errors import NotText
from handrail.api.files.search.query import Rules
from handrail.api.files.service import INLINE_MAX, FileService
from handrail.api.tools.registry import Invocation, Result
from handrail.kit import names
from handrail.kit.errors import FileError, FileMissing
from handrail.kit.files import read_open
from handrail.kit.listing import Entry, kind_of, list_directory
from handrail.kit.paths import Location, Scope
from handrail.kit.text import Decoded, decode
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
    }


def is_memory_file(path: str, home: str) -> bool:
    """Whether it is the extension's memory file, which is not there while there is no memory."""
    return path in {"~" + MEMORY_FILE, home + MEMORY_FILE}


async def read(files: FileService, call: Invocation) -> Result:
    """Numbered lines, at most READ_BYTES of them."""
    args = cast("ReadArgs", call.args)
    scope = files.scope(call.actor)
    location = scope.locate(args.path)
    found, info = await load(files, scope, location)
    if found.binary:
        raise NotText(path=location.path)
    lines = _lines(found.text)
    first = args.start_line
    shown, cut = _window(lines[first - 1 : first - 1 + args.limit], first)
    last = first + len(shown) - 1
    partial = first > 1 or last < len(lines) or cut
    return {
        "path": _display(scope, location),
        "absolutePath": location.path,
        "content": "".join(shown),
        "startLine": first,
        "endLine": last,
        "totalLines": len(lines),
        "view": "partial" if partial else "full",
        "truncated": last < min(len(lines), first - 1 + args.limit) or cut,
        "lineCut": cut,
        "encoding": found.encoding,
        "size": info.st_size,
    }


def _lines(text: str) -> list[str]:
    """Lines end at LF only: a CRLF stays with its line, other separators are ordinary characters."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _window(lines: list[str], first: int) -> tuple[list[str], bool]:
    shown: list[str] = []
    room = READ_BYTES
    for number, line in enumerate(lines, first):
        text = f"{number:6}\t{line}"
        size = len(text.encode("utf-8", "replace"))
        if size > room:
            if not shown:  # one line alone is too long: its beginning is better than nothing
                return [text.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")], True
            return shown, False
        shown.append(text)
        room -= size
    return shown, False


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
        paths = await files.run_search(lambda: _tree(scope, start, args.depth, stop))
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


def _tree(scope: Scope, start: Location, depth: int, stop: Stop) -> list[dict[str, object]]:
    if kind_of(scope.stat(start).st_mode) == "file":
        return [{"path": _display(scope, start), "type": "file"}]
    prefix = "" if start.root is scope.workdir and not start.relative else _display(scope, start) + "/"
    return [
        {
            "path": prefix + names.to_text(found.relative),
            "type": "directory" if found.is_dir else "file" if found.is_file else "link" if found.is_link else "unknown",
        }
        for found in walk(scope, start, stop, enter=Rules().enter, depth=depth)
    ]
