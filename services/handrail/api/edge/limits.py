"""Rate limits in this process: per device for requests, per peer for what fails to authenticate.

A limit never locks anybody else out: requests with a valid token are counted by device, and failures only slow
further failures of the same peer. Our own few lines because this stands before every request: the library that was
here kept a timer thread alive that took the interpreter's lock a hundred times a second.
"""

from __future__ import annotations

from handrail.contract.errors import TooManyRequests
from handrail.kit.clock import Clock

WINDOW_S = 60
MAX_KEYS = 10_000  # of one window; a flood of made-up peers costs no more memory than this


class RateLimits:
    """Fixed windows of a minute, counted by kind and key. 0 switches a limit off."""

    def __init__(self, clock: Clock, *, device_per_minute: int, anonymous_per_minute: int, failures_per_minute: int) -> None:
        self._clock = clock
        self._limits = {"device": device_per_minute, "anonymous": anonymous_per_minute, "failure": failures_per_minute}
        self._window = 0
        self._counts: dict[tuple[str, str], int] = {}

    def device(self, device_id: str) -> TooManyRequests | None:
        """Count one request of a device."""
        return self._hit("device", device_id)

    def anonymous(self, peer: str) -> TooManyRequests | None:
        """Count one request without a token."""
        return self._hit("anonymous", peer)

    def failure(self, peer: str) -> TooManyRequests | None:
        """Count one failed authentication."""
        return self._hit("failure", peer)

    def _hit(self, kind: str, key: str) -> TooManyRequests | None:
        limit = self._limits[kind]
        if not limit:
            return None
        now = self._clock.monotonic()
        window = int(now // WINDOW_S)
        if window != self._window:
            self._window = window
            self._counts.clear()
        place = (kind, key)
        count = self._counts.get(place, 0) + 1
        if count > limit or (count == 1 and len(self._counts) >= MAX_KEYS and kind != "device"):
            seconds = int(WINDOW_S - now % WINDOW_S) + 1
            return TooManyRequests(seconds=seconds, headers={"Retry-After": str(seconds)})
        self._counts[place] = count
        return None
