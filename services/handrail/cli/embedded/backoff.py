"""How long to wait before a service that died is started again. Pure."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_S = 0.25
FACTOR = 2.0
CAP_S = 30.0
STABLE_S = 60.0  # a service that lived this long begins anew at FIRST_S


@dataclass(slots=True)
class Backoff:
    """Delays 0.25, 0.5, 1 ... 30 seconds."""

    failures: int = 0

    def after(self, lived_s: float) -> float:
        """Seconds to wait after a life of `lived_s` seconds."""
        if lived_s >= STABLE_S:
            self.failures = 0
        delay = min(CAP_S, FIRST_S * FACTOR**self.failures)
        self.failures = min(self.failures + 1, 16)  # no float overflow after a night of failures
        return delay
