"""`python -m handrail.api.files.sheet_child FD ROWS`: a spreadsheet from a descriptor as JSON on stdout.

Runs hostile input, so it first gives up everything: no new files, no sockets, no more than so much memory and time. What goes
wrong is an exit code; a bomb ends this process and nothing else.
"""

from __future__ import annotations

import os
import sys
from datetime import date, datetime, time, timedelta
from typing import Any, cast

import orjson
from python_calamine import CalamineError, CalamineWorkbook, PasswordError, ZipError

from handrail.api.files.childjail import give_up
from handrail.kit import zipcheck

MEMORY = 768 << 20  # bytes
CPU_S = 20
SHEETS, COLUMNS, CELLS, TEXT, MERGED = 50, 500, 300_000, 2000, 10_000
CAPS = zipcheck.Caps()
NOT_A_SHEET, REFUSED = 3, 4  # exit codes; anything else but 0 is a bomb's work too
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def main(fd: int, rows: int) -> int:
    """Print the workbook; the exit code."""
    give_up(memory=MEMORY, cpu_s=CPU_S)
    with os.fdopen(fd, "rb") as file:
        head = file.read(8)
        if head.startswith(b"PK\x03\x04"):
            try:
                zipcheck.inflate(file, zipcheck.check(file, CAPS), CAPS)
            except zipcheck.UnsafeArchive as exc:
                sys.stdout.write(exc.problem)
                return NOT_A_SHEET if exc.problem == "not_zip" else REFUSED
        elif head != OLE:
            return NOT_A_SHEET
        file.seek(0)
        try:
            workbook = CalamineWorkbook.from_filelike(file)
            sheets = _sheets(workbook, rows)
        except PasswordError:
            sys.stdout.write("encrypted")
            return REFUSED
        except (CalamineError, ZipError, ValueError, OSError):
            return NOT_A_SHEET
        except MemoryError:
            sys.stdout.write("memory")
            return REFUSED
    sys.stdout.buffer.write(orjson.dumps({"sheets": sheets}))
    return 0


def _sheets(workbook: CalamineWorkbook, rows: int) -> list[dict[str, Any]]:
    room = CELLS
    out: list[dict[str, Any]] = []
    for index, name in enumerate(workbook.sheet_names[:SHEETS]):
        sheet = workbook.get_sheet_by_index(index)
        height, width = (sheet.end[0] + 1, sheet.end[1] + 1) if sheet.end else (0, 0)
        # rows come from the first one on, columns only from where there is something
        before = [""] * min(sheet.start[1], COLUMNS) if sheet.start else []
        shown: list[list[str]] = []
        for row in sheet.iter_rows():
            if len(shown) >= rows or room <= 0:
                break
            cells = before + [_text(cell) for cell in row[: COLUMNS - len(before)]]
            while cells and not cells[-1]:
                cells.pop()
            room -= len(cells)
            shown.append(cells)
        while shown and not shown[-1]:
            shown.pop()
        out.append(
            {
                "name": name,
                "index": index,
                "colCount": max((len(row) for row in shown), default=0),
                "totalRows": height,
                "rows": shown,
                "merged": _merged(sheet),
                "truncated": height > len(shown) or width > COLUMNS,
            }
        )
    return out


def _merged(sheet: Any) -> list[dict[str, int]]:  # noqa: ANN401 - the library's own type has no stubs for it
    ranges = cast("list[tuple[tuple[int, int], tuple[int, int]]]", sheet.merged_cell_ranges or [])
    return [
        {"row": top, "column": left, "rowSpan": bottom - top + 1, "colSpan": right - left + 1}
        for (top, left), (bottom, right) in ranges[:MERGED]
    ]


def _text(cell: object) -> str:
    """A cell as a person sees it; of a formula, its value."""
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else f"{cell:.15g}"  # noqa: PLR2004 - digits of a double
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ", timespec="seconds")
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        seconds = int(cell.total_seconds())
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return str(cell)[:TEXT]


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
