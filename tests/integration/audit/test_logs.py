from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from handrail.api.audit.errors import BadDate, BadFilter, BadPaging
from handrail.api.audit.events import AuditEvent
from handrail.api.audit.query import any_day, day_filter, whole
from handrail.api.audit.service import Audit
from handrail.api.context import Actor, Identity, Role, Workspace
from handrail.kit.clock import FakeClock
from tests.support.database import Prepared
from tests.support.parts import audit_of

LI, WEI = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
DAY_S = 86400


def actor(user: str, *, admin: bool = False, role: Role = "member") -> Actor:
    return Actor(Identity(user, "u", admin, "d", "d", role, Workspace("w", "w", "/w")), "en", "r", "192.0.2.1")


@pytest.fixture
async def audit(prepared: Prepared, tmp_path: Path) -> AsyncGenerator[tuple[Audit, FakeClock]]:
    prepared.query(b"alter table audit_log disable trigger all")
    prepared.query(b"delete from audit_log")
    prepared.query(b"alter table audit_log enable trigger all")
    clock = FakeClock()
    async with audit_of(prepared, tmp_path, clock=clock) as audit:
        for n in range(10):
            audit.read(AuditEvent("fs", "read", user_id=LI, tool="Read", details={"path": f"/li/{n}"}))
            audit.read(AuditEvent("exec", "started", "warn", user_id=WEI, tool="Bash", details={"command": f"make {n}"}))
            clock.advance(1)
        yield audit, clock


@pytest.mark.req("B5", "ATK-52", "N4")
async def test_a_user_sees_own_rows_only_and_the_newest_first(audit: tuple[Audit, FakeClock]) -> None:
    logs = audit[0].logs
    page = await logs.page(actor(LI), any_day(None), limit=200)
    assert page.total == 10
    assert [entry["path"] for entry in page.entries] == [f"/li/{n}" for n in reversed(range(10))]
    assert {entry["userId"] for entry in page.entries} == {LI}
    assert (await logs.page(actor("33333333-3333-4333-8333-333333333333"), any_day(None), limit=200)).total == 0


@pytest.mark.req("B6")
@pytest.mark.parametrize("who", [None, actor(LI, admin=True), actor(LI, role="auditor")])
async def test_administrator_auditor_and_the_local_socket_see_everything(audit: tuple[Audit, FakeClock], who: Actor | None) -> None:
    assert (await audit[0].logs.page(who, any_day(None), limit=500)).total == 20


@pytest.mark.req("N4")
async def test_filters_and_pages_are_stable(audit: tuple[Audit, FakeClock]) -> None:
    logs = audit[0].logs
    today = logs.today()
    whole_day = (await logs.page(None, day_filter(today, {}), limit=500)).entries
    paged = [
        entry for offset in range(0, 20, 3) for entry in (await logs.page(None, day_filter(today, {}), limit=3, offset=offset)).entries
    ]
    assert paged == whole_day
    counts = {
        "category": {"category": "exec"},
        "level": {"level": "warn"},
        "tool": {"tool": "Read"},
        "text": {"text": "MAKE 7"},
    }
    found = {name: (await logs.page(None, day_filter(today, query), limit=500)).total for name, query in counts.items()}
    assert found == {"category": 10, "level": 10, "tool": 10, "text": 1}


@pytest.mark.req("N5")
async def test_dates_are_utc_days_newest_first(audit: tuple[Audit, FakeClock]) -> None:
    service, clock = audit
    first = service.logs.today()
    clock.advance(DAY_S)
    service.read(AuditEvent("fs", "read", user_id=LI))
    assert await service.logs.dates(actor(LI)) == [service.logs.today(), first]
    assert await service.logs.dates(actor(WEI)) == [first]
    assert await service.logs.dates(None, 1) == [service.logs.today()]
    clock.advance(40 * DAY_S)
    assert await service.logs.dates(None) == []


async def test_a_record_is_visible_in_the_very_next_query(audit: tuple[Audit, FakeClock]) -> None:
    service = audit[0]
    for n in range(5):
        service.read(AuditEvent("fs", "read", user_id=LI, details={"path": f"/fresh/{n}"}))
        assert (await service.logs.page(actor(LI), any_day(None), limit=1)).entries[0]["path"] == f"/fresh/{n}"


@pytest.mark.parametrize("day", ["", "x", "2026-13-01", "2026-1-1", "9999-12-31", "0000-00-00", "2026-01-01T00:00", "2026-01-01\0"])
def test_a_day_that_is_none_is_a_clear_error(day: str) -> None:
    with pytest.raises(BadDate):
        day_filter(day, {})


def test_filters_that_do_not_exist_are_clear_errors() -> None:
    with pytest.raises(BadFilter, match="category"):
        any_day("fs; drop table audit_log")
    with pytest.raises(BadFilter, match="level"):
        day_filter("2026-01-01", {"level": "loud"})
    assert any_day("").category is None


@pytest.mark.req("N4")
def test_limits_have_defaults_and_bounds() -> None:
    assert whole("limit", None, 200, 1, 500) == 200
    assert whole("limit", "", 200, 1, 500) == 200
    assert whole("limit", "9999", 200, 1, 500) == 500
    for text in ("0", "-1", "1.5", "abc", "\u0661", "1" * 30):
        with pytest.raises(BadPaging):
            whole("limit", text, 200, 1, 500)
