"""A multipart form that is read while it comes: the head of its one file first, then the file's bytes."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import AsyncIterator
from typing import Literal

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect

from handrail.api.files.transfer_errors import BadForm, UploadAborted
from handrail.kit.names import NAME_MAX

MAX_BEFORE = 1 << 20  # bytes of other fields before the file
NO_FILE = "it holds no file"
TWO_FILES = "it holds more than one file"
BROKEN = "its parts cannot be read"
NO_BOUNDARY = "Content-Type names no boundary"
ENDLESS = "too much comes before the file"
_CONTROL = re.compile("[\x00-\x1f\x7f\ufffd\ud800-\udfff]")
Event = tuple[Literal["file", "field", "data", "end", "over"], bytes]


class Form:
    """One form. `name` first, then `data`."""

    def __init__(self, content_type: str, chunks: AsyncIterator[bytes]) -> None:
        """Raises BadForm when the content type names no boundary."""
        _, options = parse_options_header(content_type)
        boundary = options.get(b"boundary")
        if not boundary:
            raise BadForm(reason=NO_BOUNDARY)
        self._chunks = chunks
        self._events: deque[Event] = deque()
        self._field, self._value = b"", b""
        self._name: bytes | None = None
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._begin,
                    "on_header_field": self._header_field,
                    "on_header_value": self._header_value,
                    "on_header_end": self._header_end,
                    "on_headers_finished": self._headers,
                    "on_part_data": self._data,
                    "on_part_end": lambda: self._events.append(("end", b"")),
                    "on_end": lambda: self._events.append(("over", b"")),
                },
            )
        except FormParserError as exc:
            raise BadForm(reason=NO_BOUNDARY) from exc

    async def name(self) -> str:
        """The file's name as it was sent. Raises BadForm when there is no file."""
        seen = 0
        while True:
            while self._events:
                kind, value = self._events.popleft()
                if kind == "file":
                    return value.decode("utf-8", "replace")
                if kind == "over":
                    raise BadForm(reason=NO_FILE)
                seen += len(value)
                if seen > MAX_BEFORE:
                    raise BadForm(reason=ENDLESS)
            if not await self._more():
                raise BadForm(reason=NO_FILE)

    async def data(self) -> AsyncIterator[bytes]:
        """The file's bytes. Raises BadForm when the form breaks off or holds a second file."""
        inside = True
        while True:
            while self._events:
                kind, value = self._events.popleft()
                if kind == "data" and inside:
                    yield value
                elif kind == "end":
                    inside = False
                elif kind == "file":
                    raise BadForm(reason=TWO_FILES)
                elif kind == "over":
                    return
            if not await self._more():
                raise BadForm(reason=BROKEN)

    async def _more(self) -> bool:
        try:
            chunk = await anext(self._chunks, None)
        except ClientDisconnect as exc:
            raise UploadAborted(received=0) from exc
        if chunk is None:
            return False
        try:
            self._parser.write(chunk)
        except FormParserError as exc:
            raise BadForm(reason=BROKEN) from exc
        return True

    # --- what the parser says ---

    def _begin(self) -> None:
        self._name = None

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        if self._field.lower() == b"content-disposition":
            _, options = parse_options_header(self._value)
            self._name = options.get(b"filename") or None  # an empty one is a field that nobody filled in
        self._field, self._value = b"", b""

    def _headers(self) -> None:
        self._events.append(("field", b"") if self._name is None else ("file", self._name))

    def _data(self, data: bytes, start: int, end: int) -> None:
        self._events.append(("data", data[start:end]))


def clean(name: str) -> str:
    """A base name that is good anywhere: no directories, control characters, dots or blanks at its ends, at most 200 bytes."""
    name = name.replace("%22", '"').replace("%0D", "").replace("%0A", "")
    name = _CONTROL.sub("", name.replace("\\", "/").rpartition("/")[2])
    name = re.sub(r'[<>:"|?*]', "_", name).strip(" .")
    stem, dot, extension = name.rpartition(".")
    if len(name.encode()) > NAME_MAX - 55:
        kept = f"{dot}{extension}" if stem and len(extension.encode()) <= 20 else ""  # noqa: PLR2004 - longer is no extension
        room = NAME_MAX - 55 - len(kept.encode())
        name = (stem if kept else name).encode()[:room].decode("utf-8", "ignore").rstrip(" .") + kept
    return name or "upload"
