"""An append-only, hash-chained journal of JSON lines: durable against SIGKILL with one write(2), about 10 us a line.

A line is the RFC 8785 form of its fields with `hash` put at the end: the SHA-256 of that form. The fields contain `prev`,
the hash of the line before, `writer` and `seq`, so that nothing can be changed, left out or moved unseen.

Files of one writer in the directory: `<writer>.lock` (held with flock for as long as the writer lives) and segments
`<writer>-<first seq>.jsonl`. A segment is removed once everything in it is stored elsewhere (`release`). What a killed
writer left behind is found by `orphans`: its lock is free.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import orjson

from handrail.kit.canonical import StrictJsonError, loads

GENESIS = "0" * 64  # `prev` of a writer's first line
SEGMENT_BYTES = 4 * 1024 * 1024
WRITER = re.compile(r"([0-9a-f]{12})\.lock\Z")
Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """A line that is on disk. `fields` are without `hash`."""

    seq: int
    hash: str
    line: bytes
    fields: Fields


class Journal:
    """One writer. Not for several threads."""

    def __init__(self, directory: Path, *, segment_bytes: int = SEGMENT_BYTES) -> None:
        """Raises OSError when the directory cannot be used."""
        os.makedirs(directory, mode=0o700, exist_ok=True)
        self._directory = directory
        self._segment_bytes = segment_bytes
        self._lock, self.writer = _new_lock(directory)
        self.seq = 0
        self.head = GENESIS
        self._closed: list[tuple[int, Path]] = []  # (last seq, segment)
        self._path = Path()
        self._fd = -1
        self._size = 0

    def append(self, fields: Fields) -> Entry:
        """Write one line. `fields` must be JSON that orjson and RFC 8785 print alike: text without lone surrogates, no
        floats beyond three decimals, integers below 2^53. Adds writer, seq and prev to it.

        Raises OSError (disk full, for example), and then nothing was written.
        """
        seq = self.seq + 1
        fields["writer"] = self.writer
        fields["seq"] = seq
        fields["prev"] = self.head
        raw = orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)
        digest = sha256(raw).hexdigest()
        line = b'%b,"hash":"%b"}\n' % (raw[:-1], digest.encode())
        self._write(line, seq)
        self.seq, self.head = seq, digest
        return Entry(seq, digest, line, fields)

    def release(self, seq: int) -> None:
        """Everything up to `seq` is stored elsewhere: remove the segments that hold nothing newer."""
        while self._closed and self._closed[0][0] <= seq:
            _, path = self._closed.pop(0)
            path.unlink(missing_ok=True)

    def sync(self) -> None:
        """Ask the disk to keep what was written (power cut). Raises OSError."""
        if self._fd >= 0:
            os.fdatasync(self._fd)

    def close(self, *, stored: int) -> None:
        """Stop writing. With everything stored up to the end nothing stays; else the next start finds the rest."""
        self._end_segment()
        self.release(stored)
        if not self._closed:
            (self._directory / f"{self.writer}.lock").unlink(missing_ok=True)
        os.close(self._lock)

    def _write(self, line: bytes, seq: int) -> None:
        if self._fd < 0 or self._size + len(line) > self._segment_bytes:
            self._open_segment(seq)
        written = 0
        try:
            written = os.write(self._fd, line)
        finally:
            if written != len(line):
                os.ftruncate(self._fd, self._size)
        if written != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._size += written

    def _open_segment(self, seq: int) -> None:
        path = self._directory / f"{self.writer}-{seq:012d}.jsonl"
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._end_segment()
        self._path, self._fd, self._size = path, fd, 0

    def _end_segment(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._closed.append((self.seq, self._path))
            self._fd = -1


class Orphan:
    """What a writer that is gone left behind. Its lock is held until `discard` or `close`."""

    def __init__(self, directory: Path, writer: str, lock: int) -> None:
        self.writer = writer
        self._directory = directory
        self._lock = lock

    def entries(self) -> Iterator[Entry]:
        """Its lines in order. A torn last line, which was never acknowledged, is left out."""
        for path in self._segments():
            with open(path, "rb") as stream:
                for line in stream:
                    entry = parse(line)
                    if entry is None:
                        return
                    yield entry

    def discard(self) -> None:
        """Everything is stored: remove the files."""
        for path in self._segments():
            path.unlink(missing_ok=True)
        (self._directory / f"{self.writer}.lock").unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Let go of it; another start may try."""
        os.close(self._lock)

    def _segments(self) -> list[Path]:
        return sorted(self._directory.glob(f"{self.writer}-*.jsonl"))


def orphans(directory: Path) -> Iterator[Orphan]:
    """The journals in `directory` whose writer is gone. No two callers get the same one."""
    for path in sorted(directory.glob("*.lock")):
        match = WRITER.match(path.name)
        lock = _try_lock(path) if match else None
        if match and lock is not None:
            yield Orphan(directory, match[1], lock)


def parse(line: bytes) -> Entry | None:
    """One line; None when it is torn or its hash is not that of its content."""
    if not line.endswith(b'"}\n'):
        return None
    try:
        fields = cast("Fields", loads(line))
        digest = str(fields.pop("hash"))
        entry = Entry(int(fields["seq"]), digest, line, fields)
    except (StrictJsonError, KeyError, TypeError, ValueError, AttributeError):
        return None
    return entry if digest_of(fields) == digest else None


def digest_of(fields: Fields) -> str:
    """The hash of a line with these fields."""
    return sha256(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _new_lock(directory: Path) -> tuple[int, str]:
    while True:
        writer = secrets.token_hex(6)
        path = directory / f"{writer}.lock"
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(fd, fcntl.LOCK_EX)
        # another start may have taken the file for an orphan's between open and flock
        try:
            if os.stat(path).st_ino == os.fstat(fd).st_ino:
                return fd, writer
        except FileNotFoundError:
            pass
        os.close(fd)


def _try_lock(path: Path) -> int | None:
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.stat(path).st_ino == os.fstat(fd).st_ino:
            return fd
    except OSError:
        pass
    os.close(fd)
    return None
