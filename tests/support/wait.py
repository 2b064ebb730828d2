"""Bounded waiting: no test sleeps for a guessed time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
STEP_S = 0.02


def until(condition: Callable[[], T], what: str, timeout_s: float = 10.0) -> T:
    """Poll `condition` until its value is true and return it; fail with `what` after `timeout_s`."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout_s:g} s: {what}")
        time.sleep(STEP_S)
