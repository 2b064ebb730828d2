"""The two engines. ripgrep only names candidate files; every line that is reported was read and matched here.

So the results are the same with and without ripgrep, a candidate passes the path resolver like any other file, and a
pattern or a path of a client can never become an option of a program.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from handrail.api.files.search.content import search_file
from handrail.api.files.search.dialect import rust_pattern
from handrail.api.files.search.kept import Kept
from handrail.api.files.search.query import SECONDS, ContentQuery, ContentResult
from handrail.jail import spawn
from handrail.kit.errors import DirectoryMissing, FileError, FileMissing
from handrail.kit.listing import kind_of
from handrail.kit.paths import Location, Scope
from handrail.kit.walk import Stop, location_of, open_found, walk

FALLBACK = "fallback"
RG_MATCHED, RG_NOTHING = 0, 1  # exit codes; 2 = it could not search something
BYTES_A_PATH = 128  # first guess of how much room a candidate's name takes
MOST_BYTES = 64 << 20  # of candidate names; what ripgrep found by then is used
T = TypeVar("T")


class Threads(Protocol):
    """Runs blocking work in a bounded pool."""

    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]: ...


def find_rg() -> str | None:
    """The ripgrep that is used: of this Python environment, else of PATH. Looked up at each search, so it may come and go."""
    return shutil.which("rg", path=os.pathsep.join((f"{sys.prefix}/bin", os.environ.get("PATH", os.defpath))))


async def search(scope: Scope, start: Location, query: ContentQuery, threads: Threads, *, rg: str | None) -> ContentResult:
    """Search below `start` (a directory, or one file). Raises DirectoryMissing, OutOfBounds, ..."""
    stop = Stop(SECONDS)
    try:
        if kind_of(_stat(scope, start).st_mode) != "directory":
            return await threads(lambda: _candidates(scope, start, [b""], query, stop, ContentResult("rg" if rg else FALLBACK)))
        found = await _with_rg(scope, start, query, threads, rg, stop) if rg is not None else None
        return found if found is not None else await threads(lambda: _walked(scope, start, query, stop))
    finally:
        stop.now()  # a cancelled request ends its thread too


def _stat(scope: Scope, start: Location) -> os.stat_result:
    try:
        return scope.stat(start)
    except FileMissing as exc:
        raise DirectoryMissing(start.path) from exc


def _walked(scope: Scope, start: Location, query: ContentQuery, stop: Stop) -> ContentResult:
    result = ContentResult(FALLBACK)
    for found in walk(scope, start, stop, enter=query.rules.enter, depth=query.rules.depth, ignore=query.rules.ignore):
        if not found.is_file or (query.files is not None and not query.files.matches(found.relative)):
            continue
        opened = open_found(found)
        if opened is not None and _one(opened, location_of(start, found).path, query, stop, result):
            break
    result.timed_out = stop.hit
    return result


def _candidates(
    scope: Scope, start: Location, relative: Sequence[bytes], query: ContentQuery, stop: Stop, result: ContentResult
) -> ContentResult:
    kept = Kept(scope, start) if query.rules.ignore else None
    for name in relative:
        if stop:
            break
        if kept is not None and name and not kept.has(name):
            continue
        if name and query.files is not None and not query.files.matches(name):
            continue
        location = start.child(name) if name else start
        with contextlib.suppress(FileError):  # gone or changed since
            if _one(scope.open_file(location), location.path, query, stop, result):
                break
    result.timed_out = stop.hit
    return result


def _one(opened: tuple[int, os.stat_result], path: str, query: ContentQuery, stop: Stop, result: ContentResult) -> bool:
    """Search an open file and close it; True when the limit is reached. One hit too many tells that there is more."""
    fd, info = opened
    try:
        room = query.limit - result.total
        hits = search_file(fd, info.st_size, query.compiled, limit=room + 1, context=query.context, stop=stop, multiline=query.multiline)
    except OSError:
        return False
    finally:
        os.close(fd)
    result.add(path, hits[:room])
    result.more = len(hits) > room
    return result.more


async def _with_rg(scope: Scope, start: Location, query: ContentQuery, threads: Threads, rg: str, stop: Stop) -> ContentResult | None:
    """None when ripgrep cannot take the pattern, is gone, or failed: then the walk decides."""
    argv = rg_arguments(rg, query)
    if argv is None:
        return None
    room = (query.limit + 1) * BYTES_A_PATH
    while True:
        try:
            done = await spawn.run_async(argv, cwd=start.path, timeout_s=SECONDS, max_output=room)
        except OSError:
            return None
        names_found = done.stdout.split(b"\0")
        del names_found[-1]  # what is after the last NUL is cut
        if done.code not in (RG_MATCHED, RG_NOTHING) and not done.truncated and not done.timed_out and not names_found:
            return None
        candidates = [name.removeprefix(b"./") for name in names_found]
        result = await threads(lambda: _candidates(scope, start, candidates, query, stop, ContentResult("rg")))  # noqa: B023 - awaited here
        result.timed_out = result.timed_out or done.timed_out
        if not done.truncated or result.more or stop or room >= MOST_BYTES:
            result.more = result.more or done.truncated
            return result
        room = min(room * 16, MOST_BYTES)


def rg_arguments(rg: str, query: ContentQuery) -> list[str] | None:
    """The command line: every value of a client is inside of one `--option=value` argument. None when there is none for the pattern."""
    pattern = query.pattern if query.fixed else rust_pattern(query.pattern, multiline=query.multiline)
    if pattern is None:
        return None
    argv = [rg, "--no-config", "--files-with-matches", "--null", "--no-ignore", "--hidden", "--no-messages", "--color=never", "--sort=path"]
    argv.append("--ignore-case" if query.ignore_case else "--case-sensitive")
    if query.fixed:
        argv.append("--fixed-strings")
    if query.multiline:
        argv += ["--multiline", "--multiline-dotall"]
    if not query.rules.recursive:
        argv.append("--max-depth=1")
    argv += [f"--glob={glob}" for glob in (query.files.simple() if query.files is not None else ())]
    argv += [f"--glob=!{name}/" for name in query.rules.skipped]
    if not query.rules.dot_directories:
        argv.append("--glob=!.*/")
    return [*argv, f"--regexp={pattern}", "--", "./"]
