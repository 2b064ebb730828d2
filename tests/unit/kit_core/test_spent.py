"""A token id is accepted exactly once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from handrail.kit.spent import MARGIN_S, SpentTokens

NOW = 1_800_000_000


@pytest.fixture
def store(tmp_path: Path) -> SpentTokens:
    return SpentTokens(tmp_path / "jti.sqlite", now=NOW)


def use(store: SpentTokens, jti: str = "a") -> bool:
    return store.consume(jti, NOW + 30, iat=NOW, now=NOW)


@pytest.mark.req("H4")
def test_the_second_use_is_refused(store: SpentTokens) -> None:
    assert [use(store), use(store), use(store, "b")] == [True, False, True]


@pytest.mark.req("H4", "ATK-41")
def test_of_a_hundred_parallel_uses_exactly_one_wins(tmp_path: Path) -> None:
    path = tmp_path / "jti.sqlite"
    stores = [SpentTokens(path, now=NOW) for _ in range(10)]
    with ThreadPoolExecutor(20) as pool:
        results = list(pool.map(lambda i: use(stores[i % 10]), range(100)))
    assert results.count(True) == 1


@pytest.mark.req("H4")
def test_a_used_token_stays_used_after_a_restart(tmp_path: Path) -> None:
    first = SpentTokens(tmp_path / "jti.sqlite", now=NOW)
    assert use(first)
    first.close()
    assert not use(SpentTokens(tmp_path / "jti.sqlite", now=NOW + 10))


@pytest.mark.req("H4")
def test_a_token_older_than_the_store_is_refused(tmp_path: Path) -> None:
    store = SpentTokens(tmp_path / "jti.sqlite", now=NOW)
    assert not store.consume("old", NOW + 20, iat=NOW - 1, now=NOW)


@pytest.mark.req("H4")
def test_expired_ids_are_purged_after_the_margin(store: SpentTokens) -> None:
    use(store)
    assert store.purge(now=NOW + 30 + MARGIN_S) == 0
    assert store.purge(now=NOW + 31 + MARGIN_S) == 1
