"""Executors of the searching tools: Glob, Grep and their wire variants."""

from __future__ import annotations

import contextlib
import os
from typing import cast

from handrail.api.files.arguments import GlobArgs, GrepArgs, SearchContentArgs, SearchFilesArgs
from handrail.api.files.errors import PatternInvalid
from handrail.api.files.search.content import Hit
from handrail.api.files.search.engine import FALLBACK, search
from handrail.api.files.search.globs import Glob
from handrail.api.files.search.linear import compile_lines
from handrail.api.files.search.query import SECONDS, ContentQuery, ContentResult, Rules
from handrail.api.files.service import FileService
from handrail.api.tools.registry import Invocation, Result
from handrail.kit import names
from handrail.kit.errors import FileError
from handrail.kit.listing import kind_of
from handrail.kit.paths import Location, Scope
from handrail.kit.walk import Found, Stop, location_of, walk

MAX_RESULTS = 5000
MAX_CONTEXT = 50
GREP_LINE = 400  # characters of a line in the answer of Grep
GREP_MOST = 20_000  # matches that a count or a list of files looks at


# --- names ---


async def search_files(files: FileService, call: Invocation) -> Result:
    """Entries by a glob on the base name, upper and lower case alike; dependencies and dot directories are left out."""
    args = cast("SearchFilesArgs", call.args)
    scope = files.scope(call.actor)
    start = scope.locate(args.path)
    glob = Glob(args.pattern or "*", ignore_case=True)
    limit = _clamp(args.maxResults)
    stop = Stop(SECONDS)
    rules = Rules(recursive=args.recursive, dot_directories=False)
    try:
        results, more = await files.run_search(lambda: _named(scope, start, glob, rules, limit, stop))
    finally:
        stop.now()
    return {
        "success": True,
        "results": results,
        "total": len(results),
        "engine": FALLBACK,
        "path": start.path,
        "pattern": args.pattern,
        "truncated": more,
        "timedOut": stop.hit,
    }


def _named(scope: Scope, start: Location, glob: Glob, rules: Rules, limit: int, stop: Stop) -> tuple[list[dict[str, object]], bool]:
    out: list[dict[str, object]] = []
    for found in walk(scope, start, stop, enter=rules.enter, depth=rules.depth):
        if not glob.matches(found.relative):
            continue
        if len(out) >= limit:
            return out, True
        item = _described(scope, start, found)
        if item is not None:
            out.append(item)
    return out, False


def _described(scope: Scope, start: Location, found: Found) -> dict[str, object] | None:
    location = location_of(start, found)
    try:
        info = os.stat(found.relative.rpartition(b"/")[2], dir_fd=found.dir_fd, follow_symlinks=False)
    except OSError:  # gone meanwhile
        return None
    if found.is_link:
        with contextlib.suppress(FileError):  # a link that leads nowhere, or outside, is shown itself
            info = scope.stat(location)
    return {
        "path": location.path,
        "name": location.name,
        "type": kind_of(info.st_mode),
        "size": info.st_size,
        "mtime": info.st_mtime * 1000,
    }


async def glob_files(files: FileService, call: Invocation) -> Result:
    """Files by a glob, a page of them, by path."""
    args = cast("GlobArgs", call.args)
    scope = files.scope(call.actor)
    start = scope.locate(args.path)
    glob = Glob(args.pattern, ignore_case=False)
    stop = Stop(SECONDS)
    try:
        found = await files.run_search(lambda: _globbed(scope, start, glob, stop, _rules(args)))
    finally:
        stop.now()
    page = found[args.offset : args.offset + args.max_results]
    return {
        "pattern": args.pattern,
        "paths": page,
        "total": len(found),
        "offset": args.offset,
        "hasMore": args.offset + len(page) < len(found) or stop.hit,
        "timedOut": stop.hit,
    }


def _rules(args: GlobArgs | GrepArgs) -> Rules:
    return Rules(ignore=not args.include_ignored, everything=args.include_ignored)


def _globbed(scope: Scope, start: Location, glob: Glob, stop: Stop, rules: Rules) -> list[str]:
    return [
        _display(scope, location_of(start, found))
        for found in walk(scope, start, stop, enter=rules.enter, ignore=rules.ignore)
        if not found.is_dir and glob.matches(found.relative)
    ]


# --- content ---


async def search_content(files: FileService, call: Invocation) -> Result:
    """Lines that hold a plain text (never a regular expression), with lines around them."""
    args = cast("SearchContentArgs", call.args)
    scope = files.scope(call.actor)
    start = scope.locate(args.path)
    query = ContentQuery(
        pattern=_one_line(args.pattern),
        fixed=True,
        ignore_case=not args.caseSensitive,
        compiled=compile_lines(args.pattern, fixed=True, ignore_case=not args.caseSensitive),
        files=Glob(args.filePattern, ignore_case=True, alternatives=True) if args.filePattern else None,
        rules=Rules(recursive=args.recursive, dot_directories=False),
        limit=_clamp(args.maxResults),
        context=max(0, min(args.contextLines, MAX_CONTEXT)),
    )
    found = await search(scope, start, query, files.run_search, rg=files.rg())
    results = [_wire_hit(path, hit, query.context) for path, hits in found.files for hit in hits]
    return {
        "success": True,
        "results": results,
        "total": len(results),
        "engine": found.engine,
        "path": start.path,
        "pattern": args.pattern,
        "truncated": found.more,
        "timedOut": found.timed_out,
    }


def _wire_hit(path: str, hit: Hit, context: int) -> dict[str, object]:
    out: dict[str, object] = {"file": path, "line": hit.line, "content": hit.text}
    if context:
        first = hit.line - len(hit.before)
        lines = (*hit.before, hit.text, *hit.after)
        out["context"] = [{"line": number, "content": text, "isMatch": number == hit.line} for number, text in enumerate(lines, first)]
    return out


async def grep(files: FileService, call: Invocation) -> Result:
    """Lines by regular expression: the lines, the files, or counts."""
    args = cast("GrepArgs", call.args)
    scope = files.scope(call.actor)
    start = scope.locate(args.path)
    listing = args.output_mode == "content"
    query = ContentQuery(
        pattern=args.pattern if args.multiline and "\0" not in args.pattern else _one_line(args.pattern),
        fixed=args.fixed_strings,
        ignore_case=args.ignore_case,
        compiled=compile_lines(args.pattern, fixed=args.fixed_strings, ignore_case=args.ignore_case, multiline=args.multiline),
        files=Glob(args.file_pattern, ignore_case=False, alternatives=True) if args.file_pattern else None,
        rules=_rules(args),
        multiline=args.multiline,
        limit=args.offset + args.head_limit if listing else GREP_MOST,
        context=args.context if listing else 0,
    )
    found = await search(scope, start, query, files.run_search, rg=files.rg())
    shape = {"content": _lines, "files": _files, "count": _counts}[args.output_mode]
    return {
        "pattern": args.pattern,
        "mode": args.output_mode,
        "engine": found.engine,
        "timedOut": found.timed_out,
        **shape(scope, found, args),
    }


def _lines(scope: Scope, found: ContentResult, args: GrepArgs) -> Result:
    pairs = [(path, hit) for path, hits in found.files for hit in hits][args.offset :]
    matches: list[dict[str, object]] = []
    text: list[str] = []
    for path, hit in pairs:
        shown = _shorter(scope, path)
        lines = [_short(line) for line in hit.text.split("\n")]
        matches.append({"path": shown, "line": hit.line, "text": "\n".join(lines)})
        first = hit.line - len(hit.before)
        text += [f"{shown}-{number}- {_short(line)}" for number, line in enumerate(hit.before, first)]
        text += [f"{shown}:{number}: {line}" for number, line in enumerate(lines, hit.line)]
        text += [f"{shown}-{number}- {_short(line)}" for number, line in enumerate(hit.after, hit.last + 1)]
        if args.context:
            text.append("--")
    return {"content": "\n".join(text), "matches": matches, "total": found.total, "offset": args.offset, "hasMore": found.more}


def _files(scope: Scope, found: ContentResult, args: GrepArgs) -> Result:
    page = found.files[args.offset : args.offset + args.head_limit]
    rows = [{"path": _shorter(scope, path), "count": len(hits), "firstLine": hits[0].line} for path, hits in page]
    return {
        "files": rows,
        "total": len(found.files),
        "offset": args.offset,
        "hasMore": found.more or args.offset + len(page) < len(found.files),
    }


def _counts(scope: Scope, found: ContentResult, args: GrepArgs) -> Result:
    return {"fileCount": len(found.files), "matchCount": found.total, "hasMore": found.more}


def _short(text: str) -> str:
    return text if len(text) <= GREP_LINE else text[:GREP_LINE] + "..."


def _display(scope: Scope, location: Location) -> str:
    return names.to_text(location.relative) or "." if location.root is scope.workdir else location.path


def _shorter(scope: Scope, path: str) -> str:
    """Relative to the work directory if it lies in it."""
    return path.removeprefix(scope.workdir.path + "/")


def _one_line(pattern: str) -> str:
    if not pattern or any(char in pattern for char in "\n\r\0"):
        raise PatternInvalid
    return pattern


def _clamp(wanted: int) -> int:
    return max(1, min(wanted, MAX_RESULTS))
