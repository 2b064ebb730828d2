"""Text of slides: shapes, groups, tables, notes. In the child only."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import IO, Any

from handrail.api.files.read import zipped

_pptx: Any = importlib.import_module("pptx")  # the library has no types
MOST_SHAPES = 2000  # of one slide
MOST_DEPTH = 8  # of groups in groups


def read(file: IO[bytes], start: int, count: int) -> dict[str, Any]:
    """{"total": slides, "parts": [{"number", "text"}]}."""
    zipped.check(file)
    slides = list(_pptx.Presentation(file).slides)
    wanted = enumerate(slides[start - 1 : start - 1 + count], start)
    parts = [{"number": number, "text": "\n".join(_texts(slide))} for number, slide in wanted]
    return {"total": len(slides), "parts": parts}


def _texts(slide: Any) -> Iterator[str]:  # noqa: ANN401 - the library has no types
    yield from list(_shapes(slide.shapes, 0))[:MOST_SHAPES]
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        yield "Notes: " + slide.notes_slide.notes_text_frame.text


def _shapes(shapes: Any, depth: int) -> Iterator[str]:  # noqa: ANN401 - the library has no types
    for shape in shapes:
        if getattr(shape, "shapes", None) is not None and depth < MOST_DEPTH:
            yield from _shapes(shape.shapes, depth + 1)
        elif getattr(shape, "has_table", False):
            yield from (" | ".join(cell.text for cell in row.cells) for row in shape.table.rows)
        elif shape.has_text_frame and shape.text_frame.text.strip():
            yield shape.text_frame.text
