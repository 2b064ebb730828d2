"""Stopping and restarting this process on request, and saying so to whoever supervises it by the exit code."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from handrail.contract.errors import HandrailError, TooManyRequests
from handrail.kit.clock import Clock

EXIT_STOP = 0  # asked over HTTP: stay stopped
EXIT_RESTART = 75  # EX_TEMPFAIL: the supervisor starts the service again at once
SIGNALLED = 128  # plus the signal, as a shell counts
COOLDOWN_S = 10.0
ANSWER_FIRST_S = 0.2  # the answer leaves before the server stops


class LifecycleBusy(HandrailError):
    """Stopping already."""

    code = "lifecycle.busy"
    status = 409
    en = "A restart or shutdown is already in progress."
    zh = "重启或关闭操作正在进行中。"


class Lifecycle:
    """Takes at most one stop or restart request each COOLDOWN_S."""

    def __init__(self, clock: Clock, stop: Callable[[], None]) -> None:
        """`stop` asks the server to drain and end."""
        self._clock = clock
        self._stop = stop
        self._last = float("-inf")
        self._stopping = False
        self.exit_code = EXIT_STOP
        self.by_request = False

    @property
    def stopping(self) -> bool:
        """Whether this process is on its way out: readiness is false then."""
        return self._stopping

    def signalled(self, number: int) -> None:
        """Stop on a signal. The exit code says so, so that a supervisor that did not send it starts the service again."""
        if not self._stopping:
            self._stopping = True
            self.exit_code = SIGNALLED + number
        self._stop()

    def request(self, exit_code: int) -> None:
        """Begin to stop. Raises LifecycleBusy (409) while stopping, TooManyRequests (429) too soon after the start."""
        if self._stopping:
            raise LifecycleBusy
        now = self._clock.monotonic()
        wait = self._last + COOLDOWN_S - now
        if wait > 0:
            seconds = int(wait) + 1
            raise TooManyRequests(seconds=seconds, headers={"Retry-After": str(seconds)})
        self._last = now
        self._stopping = True
        self.by_request = True
        self.exit_code = exit_code
        asyncio.get_running_loop().call_later(ANSWER_FIRST_S, self._stop)
