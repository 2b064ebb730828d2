"""Executor of Image: pictures to be shown, from files, from URLs behind the guard, from base64. What they are is told by their bytes."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Awaitable, Callable
from typing import Any, cast

from handrail.api.context import Actor
from handrail.api.files.errors import BadBase64, NotAPicture, TooManyPictures
from handrail.api.files.picture_arguments import MOST, ImageArgs
from handrail.api.files.read import sniff
from handrail.api.files.service import FileService
from handrail.api.tools.registry import Invocation, Result
from handrail.kit.errors import TooLarge
from handrail.kit.fetch import Fetcher
from handrail.kit.urlguard import parse
from handrail.policy import POLICY_VERSION, Reason, Verdict

FILE_MAX = 25 << 20  # bytes of one picture
TOTAL_MAX = 40 << 20  # bytes of one answer
Run = Callable[[FileService, Invocation], Awaitable[Result]]


def sources(args: ImageArgs) -> list[tuple[str, str]]:
    """(kind, text) of each source, kind is path, url or base64. Raises TooManyPictures, UrlRefused."""
    out = [("path", text) for text in (*_one(args.path), *args.paths)]
    out += [("url", text) for text in (*_one(args.url), *args.urls)]
    out += [("base64", text) for text in (*_one(args.base64), *args.base64s)]
    out += [_told_apart(text) for text in (*_one(args.source), *args.sources)]
    if not out or len(out) > MOST:
        raise TooManyPictures(limit=MOST)
    for kind, text in out:
        if kind == "url":
            parse(text)  # refused before anybody is asked about it
    return out


def _one(text: str | None) -> tuple[str, ...]:
    return () if text is None else (text,)


def _told_apart(text: str) -> tuple[str, str]:
    if text.startswith("data:"):
        return "base64", text
    return ("url" if text.lower().startswith(("http://", "https://")) else "path"), text


def judge(_actor: Actor, args: Any) -> Verdict:  # noqa: ANN401 - each tool has its own argument class
    """A URL can carry what was read here to somebody else, so a person is asked; files and base64 stay here."""
    urls = [text for kind, text in sources(cast("ImageArgs", args)) if kind == "url"]
    reasons = tuple(
        Reason("image.url", "confirm", 0, len(url), f"asks another machine for {url}", f"将向其他主机请求 {url}") for url in urls
    )
    return Verdict("confirm" if urls else "allow", reasons, (), POLICY_VERSION)


def show_with(fetcher: Fetcher) -> Run:
    """The executor, fetching by `fetcher`."""

    async def show(files: FileService, call: Invocation) -> Result:
        pictures: list[Result] = []
        total = 0
        for kind, text in sources(cast("ImageArgs", call.args)):
            name, data = await _bytes(files, call, fetcher, kind, text)
            total += len(data)
            if total > TOTAL_MAX:
                raise TooLarge(name, size=total, limit=TOTAL_MAX)
            pictures.append(_shown(kind, name, data))
        return {"images": pictures}

    return show


async def _bytes(files: FileService, call: Invocation, fetcher: Fetcher, kind: str, text: str) -> tuple[str, bytes]:
    if kind == "url":
        fetched = await fetcher.get(text)
        return fetched.url, fetched.data
    if kind == "base64":
        try:
            return "base64", base64.b64decode(text.partition(";base64,")[2] if text.startswith("data:") else text, validate=True)
        except (binascii.Error, ValueError) as exc:
            raise BadBase64 from exc
    scope = files.scope(call.actor)
    location = scope.locate(text)

    def load() -> bytes:
        fd, info = scope.open_file(location)
        try:
            if info.st_size > FILE_MAX:
                raise TooLarge(location.path, size=info.st_size, limit=FILE_MAX)
            return os.pread(fd, FILE_MAX, 0)
        finally:
            os.close(fd)

    return location.path, await files.run(load)


def _shown(kind: str, name: str, data: bytes) -> Result:
    head = data[: sniff.HEAD]
    media = sniff.image_type(head) or ("image/svg+xml" if _is_svg(head) else None)
    if media is None:
        raise NotAPicture(path=name)
    # an SVG is a document with scripts: it is only for an <img>, where none of them runs, never for the page itself
    inert = {"renderAs": "img"} if media == "image/svg+xml" else {}
    return {"source": kind, "name": name, "mimeType": media, "size": len(data), "data": base64.b64encode(data).decode(), **inert}


def _is_svg(head: bytes) -> bool:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return start.startswith(b"<svg") or (start.startswith((b"<?xml", b"<!--", b"<!doctype")) and b"<svg" in start)
