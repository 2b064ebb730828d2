"""Text of PDF pages. Only the pages asked for are loaded, and nothing is rendered. In the child only."""

from __future__ import annotations

import importlib
from typing import IO, Any

from handrail.api.files.read.child import NotOne, Refused

_pdfium: Any = importlib.import_module("pypdfium2")  # the library has no types
PASSWORD = "password"  # noqa: S105 - a word in a message of the library


def read(file: IO[bytes], start: int, count: int) -> dict[str, Any]:
    """{"total": pages, "parts": [{"number", "text"}]}."""
    try:
        document = _pdfium.PdfDocument(file.read())
    except _pdfium.PdfiumError as exc:
        if PASSWORD in str(exc).lower():
            raise Refused("encrypted") from exc
        raise NotOne from exc
    total = len(document)
    parts: list[dict[str, Any]] = []
    for index in range(start - 1, min(start - 1 + count, total)):
        try:
            text = document[index].get_textpage().get_text_bounded()
        except _pdfium.PdfiumError:
            text = ""  # a broken page says nothing, the others do
        parts.append({"number": index + 1, "text": str(text).replace("\r\n", "\n").replace("\0", "")})
    return {"total": total, "parts": parts}
