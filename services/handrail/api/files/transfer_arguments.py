"""Arguments of the transfer tools. What a token binds: places, sizes and hashes, never content."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from handrail.api.tools.registry import Arguments

Sha256 = Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]
Bytes = Annotated[int, Field(ge=0, le=2**53)]


class DownloadArgs(Arguments):
    """One path, or several as an archive."""

    paths: list[str]
    several: bool = False
    encoded: bool = False  # inside of JSON, so within the size limit of files


class UploadArgs(Arguments):
    """A whole file."""

    path: str
    size: Bytes | None = None
    sha256: Sha256 = ""
    overwrite: bool = True


class UploadPartArgs(Arguments):
    """A piece of a file; the last one puts it in its place."""

    path: str
    upload_id: str
    offset: Bytes
    total: Bytes
    sha256: Sha256 = ""


class UploadIdArgs(Arguments):
    """An unfinished upload."""

    upload_id: str


class StageArgs(Arguments):
    """A new file in the work root under a free name."""

    name: str
    size: Bytes | None = None


class PreviewArgs(Arguments):
    """A spreadsheet."""

    path: str
    max_rows: Annotated[int, Field(ge=1, le=2001)] = 2001
