from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from handrail.api.audit.events import AuditEvent
from handrail.store.audit import Appender
from handrail.store.errors import StoreUnavailable
from tests.support.database import Prepared
from tests.support.parts import audit_of

pytestmark = pytest.mark.req("ATK-61", "N7")
ROOT = Path(__file__).resolve().parents[3]


def killed_after(prepared: Prepared, base: Path, lines: int) -> tuple[str, int]:
    """Kill a recording process with SIGKILL once it acknowledged `lines` records: (its writer, how many it acknowledged)."""
    argv = [
        sys.executable,
        "-m",
        "tests.integration.audit.killed_writer",
        prepared.name,
        str(prepared.secrets),
        prepared.superuser_url,
        str(base),
    ]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}) as child:
        assert child.stdout
        writer = child.stdout.readline().decode().strip()
        acknowledged = 0
        for line in child.stdout:
            acknowledged = int(line)
            if acknowledged >= lines:
                child.kill()
                break
        # what was in the pipe already had been acknowledged too
        for line in child.stdout.read().splitlines():
            acknowledged = max(acknowledged, int(line or b"0"))
    return writer, acknowledged


@pytest.mark.parametrize("lines", [1, 300, 1500])
async def test_after_sigkill_every_acknowledged_record_is_there_once(prepared: Prepared, tmp_path: Path, lines: int) -> None:
    writer, acknowledged = killed_after(prepared, tmp_path, lines)
    assert writer
    async with audit_of(prepared, tmp_path) as audit:
        rows = prepared.query(b"select seq, details from audit_log where writer = %(writer)s order by seq", {"writer": writer})
        assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
        assert [row["details"] for row in rows] == [{"n": n} for n in range(1, len(rows) + 1)]
        assert len(rows) >= acknowledged
        report = await audit.verify()
        assert report.problems == []
    kept = [json.loads(line) for path in sorted((tmp_path / "logs").glob("agent-*")) for line in path.read_bytes().splitlines()]
    ids = [line["id"] for line in kept if line.get("id", "").startswith(writer)]
    assert ids == [f"{writer}-{n}" for n in range(1, len(rows) + 1)]
    assert list((tmp_path / "journal").iterdir()) == []


async def test_two_that_start_at_once_take_over_a_journal_once(prepared: Prepared, tmp_path: Path) -> None:
    writer, _ = killed_after(prepared, tmp_path, 300)
    async with audit_of(prepared, tmp_path) as first, audit_of(prepared, tmp_path) as second:
        await first.effect(AuditEvent("system", "one"))
        await second.effect(AuditEvent("system", "two"))
    kept = [json.loads(line) for path in sorted((tmp_path / "logs").glob("agent-*")) for line in path.read_bytes().splitlines()]
    ids = [line["id"] for line in kept if line.get("id", "").startswith(writer)]
    assert len(ids) == len(set(ids))


async def test_a_recovery_that_fails_half_way_is_finished_by_the_next(
    prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, acknowledged = killed_after(prepared, tmp_path, 300)
    monkeypatch.setattr("handrail.api.audit.recovery.BATCH", 100)
    real, batches = Appender.append, 0

    async def once(self: Appender, lines: list[bytes]) -> None:
        nonlocal batches
        batches += 1
        if batches > 1:
            raise StoreUnavailable
        await real(self, lines)

    with monkeypatch.context() as patch:
        patch.setattr(Appender, "append", once)
        with pytest.raises(StoreUnavailable):
            async with audit_of(prepared, tmp_path):
                pass
    assert (tmp_path / "journal" / f"{writer}.lock").exists()
    async with audit_of(prepared, tmp_path) as audit:
        rows = prepared.query(b"select count(*) as n from audit_log where writer = %(writer)s", {"writer": writer})
        assert int(str(rows[0]["n"])) >= acknowledged
        assert (await audit.verify()).ok
