"""Logs of the services: each writes to its own file, so that a stuck terminal can never block a service."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from handrail.cli.embedded.layout import Layout

MAX_BYTES = 16 * 1024 * 1024  # a larger file becomes <name>.log.1 (the one before is dropped)
CHUNK = 65536
TAIL_BYTES = 16384


class LogFile:
    """`<data>/logs/<name>.log`, open for appending."""

    def __init__(self, layout: Layout, name: str) -> None:
        self.path = layout.logs / f"{name}.log"
        self._layout = layout
        self._read_at = 0
        self._partial = b""
        self.fd = self._open()
        self._read_at = os.fstat(self.fd).st_size

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(self.path, flags, 0o600)
        if self._layout.account:
            os.fchown(fd, self._layout.uid, self._layout.gid)
        return fd

    def new_lines(self) -> list[str]:
        """Whole lines written since the last call, undecodable bytes replaced."""
        data = os.pread(self.fd, CHUNK, self._read_at)
        self._read_at += len(data)
        *lines, self._partial = (self._partial + data).split(b"\n")
        if len(self._partial) > CHUNK:
            lines.append(self._partial)
            self._partial = b""
        return [line.decode("utf-8", "replace") for line in lines]

    def tail(self, lines: int) -> list[str]:
        """The last `lines` lines."""
        size = os.fstat(self.fd).st_size
        data = os.pread(self.fd, TAIL_BYTES, max(0, size - TAIL_BYTES))
        return data.decode("utf-8", "replace").splitlines()[-lines:]

    def rotate(self) -> None:
        """Copy a large file away and cut it: its writer keeps its descriptor and appends from the start again."""
        size = os.fstat(self.fd).st_size
        if size <= MAX_BYTES:
            return
        _copy(self.fd, self.path.with_name(self.path.name + ".1"), self._layout)
        os.ftruncate(self.fd, 0)
        self._read_at = 0

    def close(self) -> None:
        os.close(self.fd)


def echo(log: LogFile, write: Callable[[str], None]) -> None:
    """Pass what was written since the last call on."""
    while lines := log.new_lines():
        for line in lines:
            write(line)


def _copy(source: int, target: Path, layout: Layout) -> None:
    temporary = target.with_name(f".{target.name}.new")
    temporary.unlink(missing_ok=True)
    out = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        if layout.account:
            os.fchown(out, layout.uid, layout.gid)
        at = 0
        while data := os.pread(source, CHUNK, at):
            os.write(out, data)
            at += len(data)
    finally:
        os.close(out)
    temporary.replace(target)
