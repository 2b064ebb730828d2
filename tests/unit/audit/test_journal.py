from __future__ import annotations

import errno
import os
import time
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from handrail.api.audit.events import AuditEvent
from handrail.api.audit.record import fields_of
from handrail.kit.journal import GENESIS, Journal, digest_of, orphans, parse

pytestmark = pytest.mark.req("N7")


def lines(directory: Path) -> list[bytes]:
    return [line for path in sorted(directory.glob("*.jsonl")) for line in path.read_bytes().splitlines(keepends=True)]


def test_each_line_names_the_hash_of_the_one_before(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    entries = [journal.append({"n": n}) for n in range(5)]
    assert [entry.seq for entry in entries] == [1, 2, 3, 4, 5]
    assert [entry.fields["prev"] for entry in entries] == [GENESIS, *(entry.hash for entry in entries[:-1])]
    for line, entry in zip(lines(tmp_path), entries, strict=True):
        read = parse(line)
        assert read is not None
        assert (read.seq, read.hash, read.fields) == (entry.seq, entry.hash, entry.fields)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(exclude_categories=())), inner, max_size=4),
    max_leaves=12,
)


@given(details=st.dictionaries(st.text(st.characters(exclude_categories=())), JSON_VALUES, max_size=6), action=st.text())
def test_the_hashed_form_is_rfc_8785_for_every_event(details: dict[str, Any], action: str) -> None:
    import hashlib

    fields = fields_of(AuditEvent("fs", action, details=details), 1_800_000_000.123)
    assert hashlib.sha256(rfc8785.dumps(fields)).hexdigest() == digest_of(fields)


def test_a_changed_line_is_not_read(tmp_path: Path) -> None:
    line = Journal(tmp_path).append({"path": "/a"}).line
    assert parse(line) is not None
    assert parse(line.replace(b"/a", b"/b")) is None
    for end in range(len(line)):
        assert parse(line[:end]) is None


def test_segments_end_at_their_size_and_go_when_everything_in_them_is_stored(tmp_path: Path) -> None:
    journal = Journal(tmp_path, segment_bytes=1000)
    for n in range(40):
        journal.append({"text": "x" * 100, "n": n})
    segments = sorted(tmp_path.glob("*.jsonl"))
    assert len(segments) > 4
    assert all(path.stat().st_size <= 1000 for path in segments)
    second = int(segments[1].stem.split("-")[1])
    journal.release(second - 2)
    assert segments[0].exists()
    journal.release(second - 1)
    assert not segments[0].exists()
    assert segments[1].exists()
    journal.close(stored=40)
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_stored_stays_for_the_next_start(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for n in range(3):
        journal.append({"n": n})
    assert list(orphans(tmp_path)) == []
    journal.close(stored=2)
    (orphan,) = orphans(tmp_path)
    assert [entry.seq for entry in orphan.entries()] == [1, 2, 3]
    assert list(orphans(tmp_path)) == []  # held by the first who came
    orphan.discard()
    assert list(tmp_path.iterdir()) == []


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for n in range(3):
        journal.append({"n": n})
    path = next(tmp_path.glob("*.jsonl"))
    journal.close(stored=0)
    path.write_bytes(path.read_bytes()[:-20])
    (orphan,) = orphans(tmp_path)
    assert [entry.seq for entry in orphan.entries()] == [1, 2]
    orphan.close()


@pytest.mark.req("ATK-62")
def test_a_full_disk_leaves_no_half_line_and_the_chain_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path)
    journal.append({"n": 1})
    real = os.write

    def half(fd: int, data: bytes) -> int:
        return real(fd, data[:10])

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(OSError, match="No space") as caught:
        journal.append({"n": 2})
    assert caught.value.errno == errno.ENOSPC

    def none(_fd: int, _data: bytes) -> int:
        raise OSError(errno.EDQUOT, "quota")

    monkeypatch.setattr(os, "write", none)
    with pytest.raises(OSError, match="quota"):
        journal.append({"n": 2})
    monkeypatch.setattr(os, "write", real)
    second = journal.append({"n": 2})
    assert second.seq == 2
    assert [parse(line) is not None for line in lines(tmp_path)] == [True, True]


def test_a_record_costs_microseconds(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    event = AuditEvent(
        "fs", "read", user_id="0" * 36, request_id="a" * 12, tool="Read", details={"path": "/work/src/main.py", "size": 1024}
    )
    best = float("inf")
    for _ in range(20):
        started = time.perf_counter()
        for _ in range(200):
            journal.append(fields_of(event, 1.0))
        best = min(best, (time.perf_counter() - started) / 200)
    assert best < 100e-6  # 15 us on a quiet machine
