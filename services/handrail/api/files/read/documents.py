"""Executor's part for everything that is no text: documents are read in a jailed child, pictures are handed over as they are."""

from __future__ import annotations

import asyncio
import base64
import os
import sys
from collections.abc import Mapping
from typing import Any, cast

from handrail.api.files.arguments import ReadArgs
from handrail.api.files.errors import DocumentRefused, NotThatDocument
from handrail.api.files.read import sniff
from handrail.api.files.service import FileService
from handrail.api.tools.registry import Result
from handrail.jail import spawn
from handrail.kit.canonical import StrictJsonError, loads
from handrail.kit.errors import TooLarge
from handrail.kit.paths import Location

SECONDS = 30.0
ANSWER = 8 << 20  # bytes of a child's answer
SHOWN = 200 * 1024  # bytes of text in one answer
IMAGE_MAX = 25 << 20  # bytes
ENTRIES, SHEETS, ROWS = 200, 8, 80
RAISED, NOT_ONE, REFUSED = 1, 3, 4  # exit codes of the children
_slots = asyncio.Semaphore(2)  # children at a time
NAMES = {"pdf": "PDF", "word": "Word", "slides": "PowerPoint", "sheet": "spreadsheet", "archive": "zip", "notebook": "notebook"}
PARTS = {"pdf": "page", "slides": "slide", "notebook": "cell", "archive": "entry"}


async def read(files: FileService, location: Location, fd: int, info: os.stat_result, kind: sniff.Kind, args: ReadArgs) -> Result:
    """The answer for an open file that is not text. Raises DocumentRefused, NotThatDocument, TooLarge."""
    if kind == "image":
        return await _image(files, location, fd, info)
    if info.st_size > files.file_max_size:
        raise TooLarge(location.path, size=info.st_size, limit=files.file_max_size)
    if kind == "sheet":
        found = await _child(location, ["handrail.api.files.sheet_child", str(fd), str(ROWS)], fd, kind)
        return {"kind": kind} | _limited(_sheet_text(found))
    start, count = {
        "pdf": (args.page_start, args.page_limit),
        "slides": (args.page_start, args.page_limit),
        "notebook": (args.cell_start, args.cell_limit),
        "archive": (args.start_line, ENTRIES),
    }.get(kind, (1, 1))
    found = await _child(location, ["handrail.api.files.read.child", str(fd), kind, str(start), str(count)], fd, kind)
    parts = cast("list[dict[str, Any]]", found["parts"])
    if kind == "word":
        return {"kind": kind} | _lines(str(parts[0]["text"]), args)
    part = PARTS[kind]
    text = "\n".join(p["text"] if kind == "archive" else f"--- {part} {p['number']} ---\n{p['text']}" for p in parts)
    last = start + len(parts) - 1
    answer: Result = {"kind": kind, f"{part}Start": start, f"{part}End": last, f"{part}Total": found["total"]}
    answer["view"] = "full" if start == 1 and last >= found["total"] else "partial"
    return answer | _limited(text)


async def _image(files: FileService, location: Location, fd: int, info: os.stat_result) -> Result:
    if info.st_size > IMAGE_MAX:
        raise TooLarge(location.path, size=info.st_size, limit=IMAGE_MAX)
    data = await files.run(lambda: os.pread(fd, IMAGE_MAX, 0))
    return {"kind": "image", "mimeType": sniff.image_type(data[: sniff.HEAD]), "data": base64.b64encode(data).decode(), "content": ""}


async def _child(location: Location, module: list[str], fd: int, kind: str) -> Mapping[str, Any]:
    async with _slots:
        done = await spawn.run_async([sys.executable, "-P", "-m", *module], timeout_s=SECONDS, max_output=ANSWER, pass_fds=[fd])
    if done.code in {RAISED, NOT_ONE}:
        raise NotThatDocument(path=location.path, kind=NAMES[kind])
    if done.code != 0 or done.truncated or done.timed_out:
        word = done.stdout.decode("ascii", "replace")[:40] if done.code == REFUSED else "time" if done.timed_out else "size"
        raise DocumentRefused(path=location.path, reason=word)
    try:
        found = loads(done.stdout)
    except StrictJsonError as exc:
        raise NotThatDocument(path=location.path, kind=NAMES[kind]) from exc
    return cast("Mapping[str, Any]", found)


def _sheet_text(found: Mapping[str, Any]) -> str:
    out: list[str] = []
    sheets = cast("list[dict[str, Any]]", found["sheets"])
    for sheet in sheets[:SHEETS]:
        out.append(f"--- sheet {sheet['index'] + 1}: {sheet['name']} ({sheet['totalRows']} rows, {sheet['colCount']} columns) ---")
        out += ["\t".join(cell.replace("\n", " ") for cell in row) for row in sheet["rows"]]
    if len(sheets) > SHEETS:
        out.append(f"--- {len(sheets) - SHEETS} more sheets ---")
    return "\n".join(out)


def _lines(text: str, args: ReadArgs) -> Result:
    lines = text.splitlines(keepends=True)
    shown = lines[args.start_line - 1 : args.start_line - 1 + args.limit]
    last = args.start_line - 1 + len(shown)
    more = {"startLine": args.start_line, "endLine": last, "totalLines": len(lines)}
    whole = args.start_line == 1 and last == len(lines)
    return more | {"view": "full" if whole else "partial"} | _limited("".join(shown))


def _limited(text: str) -> Result:
    raw = text.encode("utf-8", "replace")
    return {"content": raw[:SHOWN].decode("utf-8", "ignore"), "truncated": len(raw) > SHOWN}
