"""Rate limits in this process: per device for requests, per peer for what fails to authenticate.

A limit never locks anybody else out: requests with a valid token are counted by device, and failures only slow
further failures of the same peer.
"""

from __future__ import annotations

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter

from handrail.contract.errors import TooManyRequests


class RateLimits:
    """Counters by key. All limits are requests a minute; 0 switches a limit off."""

    def __init__(self, *, device_per_minute: int, anonymous_per_minute: int, failures_per_minute: int) -> None:
        self._limiter = FixedWindowRateLimiter(MemoryStorage())
        self._device = RateLimitItemPerMinute(device_per_minute) if device_per_minute else None
        self._anonymous = RateLimitItemPerMinute(anonymous_per_minute) if anonymous_per_minute else None
        self._failures = RateLimitItemPerMinute(failures_per_minute) if failures_per_minute else None

    def device(self, device_id: str) -> TooManyRequests | None:
        """Count one request of a device."""
        return self._hit(self._device, "device", device_id)

    def anonymous(self, peer: str) -> TooManyRequests | None:
        """Count one request without a token."""
        return self._hit(self._anonymous, "anonymous", peer)

    def failure(self, peer: str) -> TooManyRequests | None:
        """Count one failed authentication."""
        return self._hit(self._failures, "failure", peer)

    def _hit(self, item: RateLimitItemPerMinute | None, kind: str, key: str) -> TooManyRequests | None:
        if item is None or self._limiter.hit(item, kind, key):
            return None
        seconds = item.get_expiry()
        return TooManyRequests(seconds=seconds, headers={"Retry-After": str(seconds)})
