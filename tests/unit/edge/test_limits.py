"""Rate limits: each key has its own minute, and nobody uses up another's."""

from __future__ import annotations

import pytest

from handrail.api.edge.limits import MAX_KEYS, RateLimits
from handrail.kit.clock import FakeClock


def limits(clock: FakeClock, limit: int = 3) -> RateLimits:
    return RateLimits(clock, device_per_minute=limit, anonymous_per_minute=limit, failures_per_minute=limit)


@pytest.mark.req("B8")
def test_the_fourth_of_three_is_refused_until_the_window_moves_on() -> None:
    clock = FakeClock()
    found = limits(clock)
    assert [found.device("a") is None for _ in range(4)] == [True, True, True, False]
    refusal = found.device("a")
    assert refusal is not None
    clock.advance(int(refusal.headers["Retry-After"]))
    assert found.device("a") is None


def test_keys_and_kinds_are_counted_apart() -> None:
    found = limits(FakeClock(), limit=1)
    assert found.failure("peer") is None
    assert found.failure("peer") is not None
    assert found.failure("other") is None
    assert found.anonymous("peer") is None
    assert found.device("peer") is None


def test_a_flood_of_peers_is_bounded_and_locks_no_device_out() -> None:
    found = limits(FakeClock())
    for number in range(MAX_KEYS + 10):
        found.failure(f"peer-{number}")
    assert found.failure("one more") is not None
    assert found.device("a") is None


def test_zero_is_no_limit() -> None:
    found = limits(FakeClock(), limit=0)
    assert all(found.anonymous("a") is None for _ in range(100))
