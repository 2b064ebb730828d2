"""Lines to a descriptor that may be stuck (a terminal under Ctrl-S, a full pipe): never waits, counts what it drops."""

from __future__ import annotations

import os
import threading
from collections import deque

CAPACITY = 2000  # lines that may wait


class DropLines:
    """A daemon thread writes; `put` only hands over. When more than CAPACITY lines wait, new ones are dropped and counted."""

    def __init__(self, fd: int, *, capacity: int = CAPACITY, notice: str = "({count} lines were not shown)\n") -> None:
        self._fd = fd
        self._capacity = capacity
        self._notice = notice
        self._lines: deque[bytes] = deque()
        self._ready = threading.Condition()
        self._busy = False
        self._closed = False
        self.dropped = 0
        self._thread = threading.Thread(target=self._run, name="drop-lines", daemon=True)
        self._thread.start()

    def put(self, lines: list[bytes]) -> None:
        """Hand over whole lines."""
        with self._ready:
            room = self._capacity - len(self._lines)
            self._lines.extend(lines[: max(0, room)])
            self.dropped += max(0, len(lines) - max(0, room))
            self._ready.notify()

    def skip(self, count: int) -> None:
        """Count lines that were not even made."""
        with self._ready:
            self.dropped += count
            self._ready.notify()

    def drain(self, timeout_s: float) -> bool:
        """Wait until everything is written; False when that took longer."""
        with self._ready:
            return self._ready.wait_for(lambda: not self._lines and not self._busy, timeout_s)

    def close(self, timeout_s: float = 0.5) -> None:
        """Write what is left for at most `timeout_s` and stop."""
        self.drain(timeout_s)
        with self._ready:
            self._closed = True
            self._ready.notify_all()

    def _run(self) -> None:
        while True:
            with self._ready:
                self._ready.wait_for(lambda: self._lines or self._closed)
                if self._closed:
                    return
                batch = b"".join(self._lines)
                self._lines.clear()
                if self.dropped:
                    batch += self._notice.format(count=self.dropped).encode()
                    self.dropped = 0
                self._busy = True
            self._write(batch)
            with self._ready:
                self._busy = False
                self._ready.notify_all()

    def _write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._fd, data) :]
        except OSError:
            return  # nobody reads any more: the lines are in the table and in the file
