"""What is in a zip archive, by its directory; nothing is unpacked. In the child only."""

from __future__ import annotations

from typing import IO, Any

from handrail.api.files.read.child import NotOne, Refused
from handrail.kit import zipcheck

MOST = 1_000_000  # entries whose directory is read at all


def read(file: IO[bytes], start: int, count: int) -> dict[str, Any]:
    """{"total": entries, "parts": [{"number", "text"}]}: size, compressed size and name of each."""
    try:
        entries = zipcheck.directory(file, zipcheck.Caps(entries=MOST))
    except zipcheck.UnsafeArchive as exc:
        if exc.problem == "not_zip":
            raise NotOne from exc
        raise Refused(exc.problem) from exc
    shown = entries[start - 1 : start - 1 + count]
    parts = [
        {"number": number, "text": f"{entry.file_size:>12} {entry.compress_size:>12}  {_name(entry.filename)}"}
        for number, entry in enumerate(shown, start)
    ]
    return {"total": len(entries), "parts": parts, "bytes": sum(entry.file_size for entry in entries)}


def _name(name: str) -> str:
    """On one line, whatever it holds."""
    return name[:500].encode("utf-8", "replace").decode() if name.isprintable() else ascii(name[:500])
