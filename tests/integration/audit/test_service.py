from __future__ import annotations

import asyncio
import errno
import json
import os
import threading
import time
from pathlib import Path

import pytest

from handrail.api.audit.events import AuditEvent
from handrail.contract.errors import AuditUnavailable
from handrail.kit.journal import Journal
from tests.support.database import Prepared
from tests.support.parts import audit_of, eventually
from tests.support.wait import until

U = "147fa1b5-8500-45ae-9e7d-9fd2f14b972f"
ROWS = b"select seq, action, details from audit_log where writer = %(writer)s order by seq"


def event(action: str = "write", category: str = "fs", **details: object) -> AuditEvent:
    return AuditEvent(category, action, user_id=U, request_id="r", tool="Write", details=details)  # type: ignore[arg-type]  # a test's text


def log_lines(base: Path) -> list[dict[str, object]]:
    return [json.loads(line) for path in sorted((base / "logs").glob("agent-*.log")) for line in path.read_bytes().splitlines()]


def shown(base: Path, count: int) -> str:
    """What is on the terminal once it has so many lines."""
    text = (base / "terminal.txt").read_text()
    return text if text.count("\n") >= count else ""


@pytest.mark.req("N1", "N2", "N3")
async def test_table_file_and_terminal_carry_every_record_under_one_id(prepared: Prepared, tmp_path: Path) -> None:
    async with audit_of(prepared, tmp_path, lang="zh") as audit:
        for category in ("auth", "fs", "exec", "security", "system"):
            await audit.effect(event("done", category, n=category))
            audit.read(event("looked", category))
            await audit.outcome(event("ended", category))
        writer = audit.writer
    rows = prepared.query(ROWS, {"writer": writer})
    assert [row["action"] for row in rows] == ["done", "looked", "ended"] * 5
    ids = [f"{writer}-{row['seq']}" for row in rows]
    assert [line["id"] for line in log_lines(tmp_path) if line["action"] != "checkpoint"] == ids
    terminal = until(lambda: shown(tmp_path, len(ids)), "the terminal has every line", 5)
    assert [line.rsplit("id=", 1)[1] for line in terminal.splitlines()] == ids
    assert "[安全:done]" in terminal


async def test_an_effect_is_committed_when_the_call_returns(prepared: Prepared, tmp_path: Path) -> None:
    async with audit_of(prepared, tmp_path) as audit:
        for n in range(20):
            row_id = await audit.effect(event(n=n))
            rows = prepared.query(ROWS, {"writer": audit.writer})
            assert f"{audit.writer}-{rows[-1]['seq']}" == row_id
            assert rows[-1]["details"] == {"n": n}


@pytest.mark.req("N7")
async def test_effects_at_once_share_commits_and_stay_one_chain(prepared: Prepared, tmp_path: Path) -> None:
    async with audit_of(prepared, tmp_path) as audit:
        before = prepared.query(b"select xact_commit as n from pg_stat_database where datname = current_database()")

        async def one(n: int) -> None:
            audit.read(event("read", n=n))
            await audit.effect(event(n=n))

        await asyncio.gather(*(one(n) for n in range(400)))
        rows = prepared.query(ROWS, {"writer": audit.writer})
        assert [row["seq"] for row in rows] == list(range(1, 801))
        xmins = prepared.query(b"select count(distinct xmin::text) as n from audit_log where writer = %(writer)s", {"writer": audit.writer})
        assert int(str(xmins[0]["n"])) < 40
        assert before
        assert (await audit.verify()).ok


async def test_a_read_is_in_the_journal_at_once_and_in_the_table_soon(prepared: Prepared, tmp_path: Path) -> None:
    async with audit_of(prepared, tmp_path) as audit:
        audit.read(event("read", path="/x"))
        journal = b"".join(path.read_bytes() for path in (tmp_path / "journal").glob("*.jsonl"))
        assert b'"path":"/x"' in journal
        await eventually(lambda: prepared.query(ROWS, {"writer": audit.writer}), "the row is there")


@pytest.mark.req("ATK-62")
async def test_without_the_database_no_effect_happens_and_the_attempt_is_said_later(prepared: Prepared, tmp_path: Path) -> None:
    async with audit_of(prepared, tmp_path) as audit:
        writer = audit.writer
        await audit.effect(event("first"))
        prepared.query(b"alter role handrail_api nologin")
        try:
            prepared.query(b"select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'handrail-audit-%'")
            started = time.perf_counter()
            with pytest.raises(AuditUnavailable):
                await audit.effect(event("refused"))
            assert time.perf_counter() - started < 5
            audit.read(event("read"))
        finally:
            prepared.query(b"alter role handrail_api login")
        await audit.effect(event("again"))
        actions = [row["action"] for row in prepared.query(ROWS, {"writer": writer})]
        assert actions == ["first", "refused", "abandoned", "read", "again"]
        assert (await audit.verify()).ok
    assert len([line for line in log_lines(tmp_path) if line["action"] == "first"]) == 1


@pytest.mark.req("ATK-62")
async def test_reads_go_on_while_the_database_is_away_up_to_a_bound(
    prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handrail.api.audit.service.MAX_BACKLOG", 50)
    async with audit_of(prepared, tmp_path) as audit:
        prepared.query(b"alter role handrail_api nologin")
        try:
            prepared.query(b"select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'handrail-audit-%'")
            for n in range(50):
                audit.read(event("read", n=n))
            with pytest.raises(AuditUnavailable):
                audit.read(event("one too many"))
        finally:
            prepared.query(b"alter role handrail_api login")
        await eventually(lambda: len(prepared.query(ROWS, {"writer": audit.writer})) == 50, "all of them arrive")


@pytest.mark.req("ATK-61")
async def test_a_server_that_lost_its_last_commits_gets_them_again(prepared: Prepared, tmp_path: Path) -> None:
    """What a crashed server had not put on its disk is gone from the table; here a superuser takes it out."""
    async with audit_of(prepared, tmp_path) as audit:
        for n in range(5):
            await audit.effect(event(n=n))
        prepared.query(b"alter table audit_log disable trigger audit_log_append_only")
        prepared.query(b"delete from audit_log where writer = %(writer)s and seq > 2", {"writer": audit.writer})
        prepared.query(b"alter table audit_log enable trigger audit_log_append_only")
        prepared.query(b"select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'handrail-audit-%'")
        await audit.effect(event("next"))
        assert [row["seq"] for row in prepared.query(ROWS, {"writer": audit.writer})] == [1, 2, 3, 4, 5, 6]
        assert (await audit.verify()).ok
        writer = audit.writer
    seqs = [line["id"] for line in log_lines(tmp_path) if line["action"] != "checkpoint"]
    assert seqs == [f"{writer}-{n}" for n in range(1, 7)]


@pytest.mark.req("ATK-62")
async def test_a_journal_that_cannot_be_written_refuses_reads_and_effects(
    prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with audit_of(prepared, tmp_path) as audit:
        with monkeypatch.context() as patch:

            def full(*_: object) -> None:
                raise OSError(errno.ENOSPC, "full")

            patch.setattr(Journal, "_write", full)
            with pytest.raises(AuditUnavailable):
                audit.read(event())
            with pytest.raises(AuditUnavailable):
                await audit.effect(event())
            with pytest.raises(AuditUnavailable):
                await audit.outcome(event())
        await audit.effect(event("works"))
        assert [row["action"] for row in prepared.query(ROWS, {"writer": audit.writer})] == ["works"]


async def test_a_log_directory_that_is_away_delays_only_the_files(prepared: Prepared, tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("in the way")
    async with audit_of(prepared, tmp_path) as audit:
        await audit.effect(event("kept"))
        (tmp_path / "logs").unlink()
    assert log_lines(tmp_path)[0]["action"] == "kept"
    assert list((tmp_path / "journal").iterdir()) == []


@pytest.mark.req("N2")
async def test_a_stuck_terminal_blocks_nothing(prepared: Prepared, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    from handrail.kit.droplines import DropLines

    async with audit_of(prepared, tmp_path) as audit:
        audit._channels._terminal = DropLines(writer, capacity=10)
        started = time.perf_counter()
        for n in range(200):
            audit.read(event("read", text="x" * 1500, n=n))
            await audit.effect(event(n=n, text="y" * 1500))
        assert time.perf_counter() - started < 20
        until(lambda: audit._channels._terminal.dropped > 0, "lines are dropped", 5)
        drain = threading.Thread(target=lambda: [None for _ in iter(lambda: os.read(reader, 1 << 20), b"")], daemon=True)
        drain.start()
    os.close(writer)
    drain.join(5)
    os.close(reader)


async def test_a_stop_leaves_an_empty_journal_and_a_signed_checkpoint(prepared: Prepared, tmp_path: Path) -> None:
    async with audit_of(prepared, tmp_path) as audit:
        audit.read(event("last"))
        writer = audit.writer
    assert list((tmp_path / "journal").iterdir()) == []
    assert prepared.query(b"select number from audit_checkpoints where writer = %(writer)s", {"writer": writer}) == [{"number": 1}]
    with pytest.raises(AuditUnavailable):
        audit.read(event("too late"))


async def test_the_journal_shrinks_while_the_service_runs(prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handrail.api.audit.pipeline.HARDEN_S", 0.05)
    monkeypatch.setattr("handrail.kit.journal.SEGMENT_BYTES", 4000)
    async with audit_of(prepared, tmp_path) as audit:
        audit._pipeline._journal._segment_bytes = 4000
        for n in range(100):
            audit.read(event("read", n=n, text="x" * 300))
        await eventually(lambda: len(list((tmp_path / "journal").glob("*.jsonl"))) <= 1, "stored segments go")
