"""Cells of a notebook with the beginning of what they printed. In the child only."""

from __future__ import annotations

from typing import IO, Any, cast

from handrail.api.files.read.child import NotOne
from handrail.kit.canonical import StrictJsonError, loads

SOURCE, OUTPUTS, OUTPUT = 1200, 3, 180  # characters of a cell, outputs of it, characters of each


def read(file: IO[bytes], start: int, count: int) -> dict[str, Any]:
    """{"total": cells, "parts": [{"number", "text"}]}."""
    try:
        raw: Any = loads(file.read())
    except StrictJsonError as exc:
        raise NotOne from exc
    cells: Any = cast("dict[str, Any]", raw).get("cells") if isinstance(raw, dict) else None
    if not isinstance(cells, list):
        raise NotOne
    found = cast("list[Any]", cells)
    shown = found[start - 1 : start - 1 + count]
    return {"total": len(found), "parts": [{"number": number, "text": _cell(cell)} for number, cell in enumerate(shown, start)]}


def _cell(cell: Any) -> str:  # noqa: ANN401 - JSON of somebody else
    if not isinstance(cell, dict):
        return "[broken cell]"
    known = cast("dict[str, Any]", cell)
    out = [f"[{known.get('cell_type', '?')}]", _cut(_joined(known.get("source")), SOURCE)]
    outputs: Any = known.get("outputs")
    if isinstance(outputs, list):
        out += ["=> " + _cut(_printed(output), OUTPUT) for output in cast("list[Any]", outputs)[:OUTPUTS]]
    return "\n".join(out)


def _printed(output: Any) -> str:  # noqa: ANN401 - JSON of somebody else
    if not isinstance(output, dict):
        return "[broken output]"
    known = cast("dict[str, Any]", output)
    if "text" in known:
        return _joined(known["text"])
    if "ename" in known:
        return f"{known['ename']}: {known.get('evalue', '')}"
    data: Any = known.get("data")
    if isinstance(data, dict):
        kinds = cast("dict[str, Any]", data)
        return _joined(kinds["text/plain"]) if "text/plain" in kinds else "[" + ", ".join(map(str, kinds)) + "]"
    return ""


def _joined(text: Any) -> str:  # noqa: ANN401 - a string or a list of strings
    return "".join(map(str, cast("list[Any]", text))) if isinstance(text, list) else str(text or "")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + f"… [{len(text) - most} more characters]"
