"""Arguments of Image."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from handrail.api.tools.registry import Arguments

MOST = 12  # pictures in one call
Several = Annotated[list[str], Field(max_length=MOST)]


class ImageArgs(Arguments):
    """Pictures to be shown: any mix, 12 in all."""

    path: str | None = None
    paths: Several = Field(default_factory=list[str])
    url: Annotated[str, Field(max_length=2048)] | None = None
    urls: Several = Field(default_factory=list[str])
    base64: str | None = None
    base64s: Several = Field(default_factory=list[str])
    source: Annotated[str, Field(description="A path, an http(s) URL or a data URL.")] | None = None
    sources: Several = Field(default_factory=list[str])
