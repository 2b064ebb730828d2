"""Signals as events of a loop: the first asks to stop, the second forces. Waking is by a pipe, so no signal is lost."""

from __future__ import annotations

import os
import select
import signal
from types import FrameType

STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
FORCE_AT = 2


class Signals:
    """Installed for the life of the supervisor; `close` puts the old handlers back."""

    def __init__(self) -> None:
        self.stops = 0
        self._read, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._old_fd = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._old = {signum: signal.signal(signum, self._stop) for signum in STOP}
        self._old[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, _nothing)

    def _stop(self, signum: int, frame: FrameType | None) -> None:
        self.stops += 1

    @property
    def stop(self) -> bool:
        return self.stops > 0

    @property
    def force(self) -> bool:
        return self.stops >= FORCE_AT

    def wait(self, seconds: float) -> None:
        """Until a signal comes or `seconds` are over."""
        select.select([self._read], [], [], max(0.0, seconds))
        try:
            while os.read(self._read, 512):
                pass
        except BlockingIOError:
            pass

    def close(self) -> None:
        for signum, handler in self._old.items():
            signal.signal(signum, handler)
        signal.set_wakeup_fd(self._old_fd)
        os.close(self._read)
        os.close(self._write)


def _nothing(signum: int, frame: FrameType | None) -> None:
    """A handler, so that the wake-up pipe hears of dead children."""
