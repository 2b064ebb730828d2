from __future__ import annotations

import os
from pathlib import Path

import pytest

from handrail.kit import preimages
from handrail.kit.clock import FakeClock
from handrail.kit.paths import Root, Scope
from handrail.kit.preimages import ABSENT, RETENTION_MS, Keeper, Record, State, conversations, sweep


@pytest.fixture
def scope(tmp_path: Path) -> Scope:
    (tmp_path / "work").mkdir()
    return Scope([Root(str(tmp_path / "work"))], home=str(tmp_path))


@pytest.fixture
def clock(tmp_path: Path) -> FakeClock:
    return FakeClock(tmp_path.stat().st_mtime)


@pytest.fixture
def keeper(tmp_path: Path, clock: FakeClock) -> Keeper:
    return Keeper(tmp_path / "undo", "w", "u", "c", clock)


def change(keeper: Keeper, path: str = "/w/f", before: State = ABSENT) -> Record:
    return keeper.add(Record(0, "t", 0, "Write", "file", path, before=before))


@pytest.mark.req("UN-1")
@pytest.mark.parametrize("size", [0, 1, 4096, 4097, 2_500_000])
def test_content_is_kept_by_hash_and_comes_back(scope: Scope, keeper: Keeper, tmp_path: Path, size: int) -> None:
    data = bytes(index % 251 for index in range(size))
    (tmp_path / "work" / "f").write_bytes(data)
    state = keeper.keep(scope, scope.locate("f"))
    (tmp_path / "work" / "f").write_bytes(b"other")
    assert (state.kind, state.size, keeper.has(state), b"".join(keeper.content(state))) == ("file", len(data), True, data)
    assert not keeper.look(scope, scope.locate("f")).same(state)
    assert keeper.look(scope, scope.locate("nowhere")) == ABSENT


@pytest.mark.req("UN-1")
def test_a_line_that_was_cut_is_left_out_and_a_change_without_an_end_is_seen(keeper: Keeper, tmp_path: Path, clock: FakeClock) -> None:
    first = change(keeper)
    keeper.ended(first, after=State("file", "a" * 64, 1))
    change(keeper, "/w/g")
    with (tmp_path / "undo" / "w" / "u" / "c" / "index.jsonl").open("ab") as index:
        index.write(b'{"record": {"seq": 3, "tu')
    found = Keeper(tmp_path / "undo", "w", "u", "c", clock).records()
    assert [(record.seq, record.path, record.ended) for record in found] == [(1, "/w/f", True), (2, "/w/g", False)]


@pytest.mark.req("UN-7")
@pytest.mark.parametrize("inline", [0, 4096])
def test_over_the_limits_a_change_is_a_gap(
    scope: Scope, keeper: Keeper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inline: int
) -> None:
    monkeypatch.setattr(preimages, "INLINE", inline)
    monkeypatch.setattr(preimages, "BLOB_MAX", 1000)
    monkeypatch.setattr(preimages, "CONVERSATION_MAX", 1500)
    (tmp_path / "work" / "large").write_bytes(bytes(1001))
    large = keeper.keep(scope, scope.locate("large"))
    assert (large.sha256, keeper.has(large)) == ("", False)
    for number in range(3):
        (tmp_path / "work" / "f").write_bytes(bytes([number]) * 900)
        kept = change(keeper, before=keeper.keep(scope, scope.locate("f")))
        assert kept.kind == ("file" if number < 2 else "gap")
    monkeypatch.setattr(preimages, "RECORDS_MAX", 3)
    assert change(keeper).kind == "gap"


@pytest.mark.req("UN-5")
def test_keepers_of_others_see_nothing(keeper: Keeper, tmp_path: Path, clock: FakeClock) -> None:
    change(keeper)
    base = tmp_path / "undo"
    assert [found.conversation for found in conversations(base, "w", "u", clock)] == ["c"]
    assert conversations(base, "w", "v", clock) + conversations(base, "x", "u", clock) == []
    assert Keeper(base, "w", "v", "c", clock).records() == []
    for bad in ("", "..", "a/b", ".hidden", "x" * 81):
        with pytest.raises(ValueError, match="plain"):
            Keeper(base, "w", "u", bad, clock)


@pytest.mark.req("UN-7")
def test_a_user_has_so_many_conversations_and_the_oldest_goes_first(tmp_path: Path, clock: FakeClock) -> None:
    base = tmp_path / "undo"
    for number in range(preimages.CONVERSATIONS + 1):
        change(Keeper(base, "w", "u", f"c{number}", clock))
        os.utime(base / "w" / "u" / f"c{number}" / "index.jsonl", (number, number + 1))
    change(Keeper(base, "w", "v", "other", clock))
    assert preimages.make_room(base, "w", "u", clock) == 2
    left = {found.conversation for found in conversations(base, "w", "u", clock)}
    assert left == {f"c{number}" for number in range(2, preimages.CONVERSATIONS + 1)}
    assert len(conversations(base, "w", "v", clock)) == 1


@pytest.mark.req("UN-7")
def test_a_conversation_without_a_change_for_seven_days_is_forgotten(keeper: Keeper, tmp_path: Path, clock: FakeClock) -> None:
    change(keeper)
    assert sweep(tmp_path / "undo", clock) == 0
    clock.advance(RETENTION_MS / 1000 + 60)
    assert sweep(tmp_path / "undo", clock) == 1
    assert keeper.records() == []
