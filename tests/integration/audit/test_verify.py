from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import psycopg
import pytest

from handrail.api.audit.events import AuditEvent
from handrail.api.audit.service import Audit
from handrail.api.audit.verify import Problem
from tests.support.database import Prepared
from tests.support.parts import audit_of

pytestmark = pytest.mark.req("N7", "ATK-62", "PG-17")
ROWS = 30


@pytest.fixture
async def audit(prepared: Prepared, tmp_path: Path) -> AsyncGenerator[Audit]:
    """A log with ROWS rows, all of them before a signed checkpoint."""
    clean(prepared)
    async with audit_of(prepared, tmp_path) as audit:
        for n in range(ROWS):
            audit.read(AuditEvent("fs", "read", details={"path": f"/f{n}", "n": n, "f": 1.5, "text": "工作 \x1b\n"}))
        await audit.flush()
        await audit.checkpoints.sign()
        yield audit


def clean(prepared: Prepared) -> None:
    tampered(prepared, b"delete from audit_log")
    tampered(prepared, b"delete from audit_checkpoints")


def tampered(prepared: Prepared, statement: bytes, values: dict[str, object] | None = None) -> None:
    """What somebody can do who has taken over the database server."""
    for table in (b"audit_log", b"audit_checkpoints"):
        prepared.query(b"alter table " + table + b" disable trigger all")
    prepared.query(statement, values)
    for table in (b"audit_log", b"audit_checkpoints"):
        prepared.query(b"alter table " + table + b" enable trigger all")


async def found(audit: Audit) -> list[tuple[str, str]]:
    report = await audit.verify()
    return [(problem.kind, problem.record) for problem in report.problems]


async def test_an_untouched_log_is_whole(audit: Audit) -> None:
    report = await audit.verify()
    assert (report.ok, report.rows, report.writers, report.checkpoints) == (True, ROWS, 1, 1)


@pytest.mark.parametrize(
    "change",
    [
        b"details = '{}'",
        b"action = 'write'",
        b"ts = ts + interval '1 millisecond'",
        b"user_id = gen_random_uuid()",
        b"level = 'error'",
        b"peer = 'x'",
        b"token_id = 'x'",
        b"tool = 'x'",
        b"request_id = 'x'",
        b"category = 'exec'",
        b"device_id = gen_random_uuid()",
        b"workspace_id = gen_random_uuid()",
        b"hash = sha256('x')",
    ],
)
async def test_an_edited_row_is_named(audit: Audit, prepared: Prepared, change: bytes) -> None:
    tampered(prepared, b"update audit_log set " + change + b" where seq = 7")
    assert ("edited", f"{audit.writer}-7") in await found(audit)


async def test_an_edited_row_with_a_new_hash_breaks_the_chain_behind_it(audit: Audit, prepared: Prepared) -> None:
    from handrail.api.audit.verify import fields_of
    from handrail.kit.journal import digest_of

    row = prepared.query(
        b"select *, encode(prev, 'hex') as prev, user_id::text, device_id::text, workspace_id::text from audit_log where seq = 7"
    )[0]
    digest = digest_of(fields_of(row | {"details": {"forged": True}, "user_id": None, "device_id": None, "workspace_id": None}))
    tampered(
        prepared, b"update audit_log set details = '{\"forged\": true}', hash = decode(%(hash)s, 'hex') where seq = 7", {"hash": digest}
    )
    assert await found(audit) == [("edited", f"{audit.writer}-8")]


async def test_a_removed_row_is_named(audit: Audit, prepared: Prepared) -> None:
    tampered(prepared, b"delete from audit_log where seq in (7, 8, 20)")
    assert await found(audit) == [("missing", f"{audit.writer}-7"), ("missing", f"{audit.writer}-20")]


async def test_two_rows_that_changed_places_are_named(audit: Audit, prepared: Prepared) -> None:
    tampered(prepared, b"update audit_log set seq = 1000 where seq = 7")
    tampered(prepared, b"update audit_log set seq = 7 where seq = 12")
    tampered(prepared, b"update audit_log set seq = 12 where seq = 1000")
    problems = (await audit.verify()).problems
    assert Problem("moved", f"{audit.writer}-7", f"was written as {audit.writer}-12") in problems
    assert Problem("moved", f"{audit.writer}-12", f"was written as {audit.writer}-7") in problems


async def test_a_cut_tail_is_seen(audit: Audit, prepared: Prepared) -> None:
    tampered(prepared, b"delete from audit_log where seq > %(n)s", {"n": ROWS - 3})
    assert await found(audit) == [("cut", f"{audit.writer}-{ROWS}")]


async def test_a_chain_that_is_gone_as_a_whole_is_seen(audit: Audit, prepared: Prepared) -> None:
    tampered(prepared, b"delete from audit_log")
    assert await found(audit) == [("cut", f"{audit.writer}-{ROWS}")]


async def test_a_tail_cut_together_with_its_checkpoint_is_seen_by_the_log_file(audit: Audit, prepared: Prepared) -> None:
    tampered(prepared, b"delete from audit_log where seq > 5")
    tampered(prepared, b"delete from audit_checkpoints")
    assert set(await found(audit)) == {("cut", f"{audit.writer}#1"), ("cut", f"{audit.writer}-{ROWS}")}


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (b"heads = '[]'", "forged"),
        (b"at = at - interval '1 hour'", "forged"),
        (b"signature = decode(repeat('00', 64), 'hex')", "forged"),
        (b"kid = 'other'", "forged"),
    ],
)
async def test_a_changed_checkpoint_is_named(audit: Audit, prepared: Prepared, change: bytes, kind: str) -> None:
    tampered(prepared, b"update audit_checkpoints set " + change)
    assert (kind, f"{audit.writer}#1") in await found(audit)


async def test_a_missing_checkpoint_is_named(audit: Audit, prepared: Prepared) -> None:
    audit.read(AuditEvent("fs", "read"))
    await audit.flush()
    assert await audit.checkpoints.sign() == 1
    assert await audit.checkpoints.sign() == 0
    tampered(prepared, b"delete from audit_checkpoints where number = 1")
    assert ("missing", f"{audit.writer}#2") in await found(audit)


async def test_one_checkpoint_ties_the_heads_of_all_writers(audit: Audit, prepared: Prepared, tmp_path: Path) -> None:
    async with audit_of(prepared, tmp_path / "other") as other:
        await other.effect(AuditEvent("system", "x"))
        await audit.checkpoints.sign()
        heads = prepared.query(
            b"select heads from audit_checkpoints where writer = %(w)s order by number desc limit 1", {"w": audit.writer}
        )
        assert other.writer in str(heads)
    tampered(prepared, b"delete from audit_log where writer = %(w)s", {"w": other.writer})
    assert ("cut", f"{other.writer}-1") in await found(audit)


APPEND_ONLY: list[tuple[str, Callable[[psycopg.Connection[object]], object]]] = [
    ("update", lambda c: c.execute(b"update audit_log set level = 'info'")),
    ("delete", lambda c: c.execute(b"delete from audit_log")),
    ("truncate", lambda c: c.execute(b"truncate audit_log")),
    ("update checkpoints", lambda c: c.execute(b"update audit_checkpoints set number = 1")),
]


@pytest.mark.parametrize(("name", "action"), APPEND_ONLY, ids=[name for name, _ in APPEND_ONLY])
@pytest.mark.parametrize("role", ["api", "worker", "owner", "superuser"])
def test_no_role_changes_a_row(prepared: Prepared, role: str, name: str, action: Callable[[psycopg.Connection[object]], object]) -> None:
    """Services by their grants, owner and superuser by the trigger (until they switch it off, which `verify` sees)."""
    url = {
        "api": prepared.url("api"),
        "worker": prepared.url("worker"),
        "owner": prepared.url("init", "owner_database_url"),
        "superuser": prepared.superuser_url,
    }[role]
    with psycopg.connect(url, autocommit=True) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        action(connection)


def test_no_service_appends_to_the_chain_of_another_writer(prepared: Prepared) -> None:
    row = (
        b"insert into audit_log (writer, seq, ts, category, action, level, prev, hash) "
        b"values ('aaaaaaaaaaaa', 1, now(), 'fs', 'x', 'info', sha256(''), sha256(''))"
    )
    with psycopg.connect(prepared.url("api"), autocommit=True) as connection:
        for writer in ("", "bbbbbbbbbbbb"):
            connection.execute(b"select set_config('app.writer', %s, false)", (writer,))
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(row)
