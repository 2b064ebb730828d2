"""What the readers of zipped documents share: an archive is inflated once, counted, before a library sees it. In the child only."""

from __future__ import annotations

from typing import IO

from handrail.api.files.read.child import NotOne, Refused
from handrail.kit import zipcheck

CAPS = zipcheck.Caps(entries=5000, total=256 << 20)


def check(file: IO[bytes]) -> None:
    """Raises Refused for a bomb or a trick, NotOne when it is no archive. The file is at its start again afterwards."""
    try:
        zipcheck.inflate(file, zipcheck.check(file, CAPS), CAPS)
    except zipcheck.UnsafeArchive as exc:
        if exc.problem == "not_zip":
            raise NotOne from exc
        raise Refused(exc.problem) from exc
    file.seek(0)
