"""The executor's own log: one JSON line before a command starts and one when it is over, so that the audit can be reconciled."""

from __future__ import annotations

import os
from pathlib import Path

import orjson

from handrail.kit.clock import Clock
from handrail.sandbox.errors import RecordUnavailable

MAX_BYTES = 64 * 1024 * 1024  # then the file is renamed; one old file is kept


class Records:
    """Append-only JSON lines. The line is written (write(2)) before `add` returns: it survives SIGKILL of this process."""

    def __init__(self, path: Path, clock: Clock) -> None:
        """Raises OSError when the file cannot be opened."""
        self._path = path
        self._clock = clock
        self._fd = self._open()

    def add(self, event: str, record_id: str, **fields: object) -> None:
        """Append one line. Raises RecordUnavailable: then nothing may be done."""
        line = orjson.dumps({"ts": round(self._clock.now(), 3), "event": event, "record": record_id, **fields}) + b"\n"
        try:
            if os.write(self._fd, line) != len(line):
                raise RecordUnavailable
            if os.lseek(self._fd, 0, os.SEEK_CUR) > MAX_BYTES:
                self._rotate()
        except OSError as exc:
            raise RecordUnavailable from exc

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)

    def _open(self) -> int:
        fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.lseek(fd, 0, os.SEEK_END)
        return fd

    def _rotate(self) -> None:
        self._path.replace(self._path.with_suffix(".1.jsonl"))
        os.close(self._fd)
        self._fd = self._open()
