"""The version of a file as a caller knows it: size, time, inode and a hash of its bytes, as one text that comes back."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from typing import Protocol

from handrail.kit.component_walk import Spot

_TEXT = re.compile(r"([0-9]{1,19})-(-?[0-9]{1,19})-([0-9]{1,20})-([0-9a-f]{32})?")
_CHUNK = 1 << 20
DIGEST_BYTES = 16


class _Stamp(Protocol):
    """Size, time and inode of a file: `kit.files.Version` is one."""

    @property
    def size(self) -> int: ...
    @property
    def mtime_ns(self) -> int: ...
    @property
    def ino(self) -> int: ...


@dataclass(frozen=True, slots=True)
class FileVersion:
    """One state of a file. `digest` is BLAKE2b (128 bit, hex) of its bytes, "" when it was not read."""

    size: int  # bytes
    mtime_ns: int
    ino: int
    digest: str = ""

    @classmethod
    def of(cls, info: os.stat_result, data: bytes | None = None) -> FileVersion:
        """Of an open file and what was read of it."""
        return cls(info.st_size, info.st_mtime_ns, info.st_ino, "" if data is None else digest(data))

    @classmethod
    def of_open(cls, fd: int, info: os.stat_result, limit: int) -> FileVersion:
        """Of an open file whose hash is taken now if it has no more than `limit` bytes. Raises OSError."""
        return cls(info.st_size, info.st_mtime_ns, info.st_ino, _digest_of(fd) if info.st_size <= limit else "")

    @classmethod
    def written(cls, stamp: _Stamp, data: bytes) -> FileVersion:
        """After a write of `data`."""
        return cls(stamp.size, stamp.mtime_ns, stamp.ino, digest(data))

    @classmethod
    def parse(cls, text: str) -> FileVersion:
        """The version that `str` gave. Raises ValueError."""
        match = _TEXT.fullmatch(text)
        if match is None:
            raise ValueError("not a version")
        return cls(int(match[1]), int(match[2]), int(match[3]), match[4] or "")

    def __str__(self) -> str:
        return f"{self.size}-{self.mtime_ns}-{self.ino}-{self.digest}"

    def matches(self, other: FileVersion) -> bool:
        """Whether both are the same state; a hash that one of them lacks is not compared."""
        same = (self.size, self.mtime_ns, self.ino) == (other.size, other.mtime_ns, other.ino)
        return same and (not self.digest or not other.digest or self.digest == other.digest)

    def is_at(self, spot: Spot, info: os.stat_result) -> bool:
        """Whether the entry, whose lstat is `info`, is in this state now; its bytes are read if the hash is known."""
        if not self.matches(FileVersion.of(info)):
            return False
        return not self.digest or _digest_at(spot) == self.digest


def digest(data: bytes) -> str:
    """BLAKE2b of the bytes."""
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).hexdigest()


def _digest_of(fd: int) -> str:
    running = hashlib.blake2b(digest_size=DIGEST_BYTES)
    offset = 0
    while chunk := os.pread(fd, _CHUNK, offset):
        running.update(chunk)
        offset += len(chunk)
    return running.hexdigest()


def _digest_at(spot: Spot) -> str:
    try:
        fd = os.open(spot.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=spot.dir_fd)
    except OSError:
        return "gone"
    try:
        return _digest_of(fd)
    except OSError:
        return "unreadable"
    finally:
        os.close(fd)
