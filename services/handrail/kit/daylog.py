"""Log files by UTC day: `<stem>-YYYY-MM-DD.log`, in parts of at most 10 MB, kept for 30 days.

A full file is renamed to `<stem>-YYYY-MM-DD.<n>.log` (n counts from 1) and a new one begins, so that the plain name is
always the one that grows. The current day is never deleted, whatever its size. Several processes may write: a lock file
makes append and rotation one step.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path

PART_BYTES = 10 * 1000 * 1000
KEEP_DAYS = 30


class DayLog:
    """The files of one stem in one directory."""

    def __init__(self, directory: Path, stem: str, *, part_bytes: int = PART_BYTES, keep_days: int = KEEP_DAYS) -> None:
        self._directory = directory
        self._stem = stem
        self._part_bytes = part_bytes
        self._keep_days = keep_days
        self._name = re.compile(re.escape(stem) + r"-(\d{4}-\d{2}-\d{2})(?:\.(\d+))?\.log\Z")
        self._cleaned = ""

    def append(self, lines: Sequence[tuple[str, bytes]], *, today: str) -> None:
        """Write (day, line) pairs in order; each line ends with a newline and stays whole. Raises OSError.

        After an error in the middle the lines before it are there; a line is never half there.
        """
        os.makedirs(self._directory, mode=0o700, exist_ok=True)
        with self._locked():
            start = 0
            while start < len(lines):
                day = lines[start][0]
                end = start
                while end < len(lines) and lines[end][0] == day:
                    end += 1
                self._append_day(day, [line for _, line in lines[start:end]])
                start = end
            if today != self._cleaned:
                self.clean(today)
                self._cleaned = today

    def days(self) -> list[str]:
        """The days that have a file, newest first."""
        return sorted({day for day, _, _ in self._files()}, reverse=True)

    def lines(self, day: str) -> Iterator[bytes]:
        """Every line of a day, oldest first."""
        parts = sorted((number or 1 << 62, path) for found, number, path in self._files() if found == day)
        for _, path in parts:
            with open(path, "rb") as stream:
                yield from stream

    def clean(self, today: str) -> list[str]:
        """Delete days that are too old; returns their names. Never `today` or later."""
        oldest = (date.fromisoformat(today) - timedelta(days=self._keep_days - 1)).isoformat()
        gone: list[str] = []
        for day, _, path in self._files():
            if day < oldest:
                path.unlink(missing_ok=True)
                gone.append(path.name)
        return gone

    def _append_day(self, day: str, lines: list[bytes]) -> None:
        pending: list[bytes] = []
        fd, size = self._open(day)
        try:
            room = self._part_bytes - size
            for line in lines:
                if len(line) > room and (size or pending):
                    _write_all(fd, pending)
                    os.close(fd)
                    self._rotate(day)
                    fd, size = self._open(day)
                    pending, room = [], self._part_bytes
                pending.append(line)
                room -= len(line)
            _write_all(fd, pending)
        finally:
            os.close(fd)

    def _open(self, day: str) -> tuple[int, int]:
        path = self._directory / f"{self._stem}-{day}.log"
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        return fd, os.fstat(fd).st_size

    def _rotate(self, day: str) -> None:
        number = 1 + max((number for found, number, _ in self._files() if found == day), default=0)
        full = self._directory / f"{self._stem}-{day}.log"
        full.rename(self._directory / f"{self._stem}-{day}.{number}.log")

    def _files(self) -> list[tuple[str, int, Path]]:
        """(day, part number or 0, path) of every file of ours."""
        if not self._directory.is_dir():
            return []
        found = ((self._name.match(path.name), path) for path in self._directory.iterdir())
        return [(match[1], int(match[2] or 0), path) for match, path in found if match]

    @contextmanager
    def _locked(self) -> Generator[None]:
        fd = os.open(self._directory / f".{self._stem}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)


def _write_all(fd: int, lines: list[bytes]) -> None:
    """All lines with one write where possible. A disk that fills up in the middle gets the half line cut off again."""
    data = b"".join(lines)
    size = os.fstat(fd).st_size
    written = 0
    try:
        while written < len(data):
            written += os.write(fd, data[written:])
    except OSError:
        whole = data.rfind(b"\n", 0, written) + 1
        os.ftruncate(fd, size + whole)
        raise
