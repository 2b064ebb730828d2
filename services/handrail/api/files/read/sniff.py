"""What a file is, by its first bytes; the name only tells apart what looks alike. Pure."""

from __future__ import annotations

from typing import Literal

Kind = Literal["text", "pdf", "notebook", "word", "slides", "sheet", "archive", "image", "old-office"]
HEAD = 4096  # bytes that are looked at
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIPPED: dict[str, Kind] = {
    "docx": "word", "docm": "word", "dotx": "word", "pptx": "slides", "pptm": "slides", "potx": "slides",
    "xlsx": "sheet", "xlsm": "sheet", "xltx": "sheet", "xltm": "sheet", "xlsb": "sheet", "ods": "sheet",
}  # fmt: skip
_PICTURES = (
    (b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpeg"), (b"GIF87a", "gif"), (b"GIF89a", "gif"), (b"\0\0\1\0", "x-icon"),
)  # fmt: skip
_OTHER = (
    (b"\x7fELF", "an ELF program or library"), (b"MZ", "a Windows program"), (b"\x1f\x8b", "gzip data: unpack it with a command"),
    (b"BZh", "bzip2 data: unpack it with a command"), (b"\xfd7zXZ\0", "xz data: unpack it with a command"),
    (b"\x28\xb5\x2f\xfd", "zstd data: unpack it with a command"), (b"7z\xbc\xaf\x27\x1c", "a 7z archive: list it with a command"),
    (b"Rar!", "a RAR archive: list it with a command"), (b"SQLite format 3\0", "an SQLite database: query it with a command"),
    (b"\xca\xfe\xba\xbe", "a Java class or Mach-O program"), (b"\0asm", "WebAssembly"),
    (OLE, "an old Office document: convert it with a command"),
    (b"ID3", "audio"), (b"OggS", "audio or video"), (b"fLaC", "audio"), (b"RIFF", "audio or video"), (b"\x93NUMPY", "a NumPy array"),
)  # fmt: skip


def image_type(head: bytes) -> str | None:
    """The media type of a picture, whatever the file is called."""
    for start, kind in _PICTURES:
        if head.startswith(start):
            return f"image/{kind}"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[4:8] == b"ftyp" and head[8:12] in {b"avif", b"avis"}:
        return "image/avif"
    if head[:2] == b"BM" and head[6:10] == b"\0\0\0\0":
        return "image/bmp"
    return None


def kind_of(head: bytes, name: str) -> Kind:
    """What Read makes of it."""
    extension = name.rpartition(".")[2].lower()
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _ZIPPED.get(extension, "archive")
    if b"%PDF-" in head[:1024]:
        return "pdf"
    if image_type(head) is not None:
        return "image"
    if head.startswith(OLE):
        return "sheet" if extension in {"xls", "xlt"} else "old-office"
    return "notebook" if extension == "ipynb" and head.lstrip()[:1] == b"{" else "text"


def hint(head: bytes) -> str:
    """What a binary file looks like, for a refusal; "" when that is not known."""
    return next((about for start, about in _OTHER if head.startswith(start)), "")
