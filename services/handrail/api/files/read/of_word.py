"""Text of a Word document as Markdown; pictures and external parts are left out. In the child only."""

from __future__ import annotations

import importlib
import io
from typing import IO, Any

from handrail.api.files.read import zipped

importlib.import_module("xml.dom.expatbuilder")  # loaded late otherwise, when no file can be opened any more
_mammoth: Any = importlib.import_module("mammoth")  # the library has no types


def read(file: IO[bytes], start: int, count: int) -> dict[str, Any]:
    """{"total": 1, "parts": [{"number": 1, "text"}]}; the text is windowed by lines elsewhere."""
    del start, count
    zipped.check(file)

    def no_picture(_image: object) -> list[object]:
        return []

    text = str(_mammoth.convert_to_markdown(io.BytesIO(file.read()), convert_image=no_picture).value)
    return {"total": 1, "parts": [{"number": 1, "text": text.replace("\\.", ".").replace("\\-", "-")}]}
