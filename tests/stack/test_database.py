"""The roles of the running database, asked from inside the containers with the URLs that they really hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.demo.client import Client
from tests.stack.client import work_root
from tests.stack.stack import Stack

SCRIPT = Path(__file__).parent / "inside" / "roles.py"
NOT_ALLOWED = "42501"
ROLES = ["handrail_api", "handrail_audit", "handrail_owner", "handrail_worker"]
HOLDERS = {
    "handrail_api": ("api", "database_url"),
    "handrail_audit": ("api", "audit_database_url"),
    "handrail_worker": ("worker", "database_url"),
}


@pytest.fixture(scope="module", params=sorted(HOLDERS))
def facts(stack: Stack, client: Client, request: pytest.FixtureRequest) -> dict[str, Any]:
    """What one role sees and may do, while there are rows of a real user."""
    client.post("/api/fs/write", path=f"{work_root(client)}/roles.txt", content="x")
    service, secret = HOLDERS[request.param]
    found = stack.python(service, SCRIPT, secret)
    assert found["role"] == request.param
    return found


@pytest.mark.req("P4", "PG-16")
def test_no_role_of_ours_is_superuser_or_passes_row_security(facts: dict[str, Any]) -> None:
    assert [row[0] for row in facts["roles"]] == ROLES
    for name, superuser, bypass, create_role, create_database, replication, _ in facts["roles"]:
        assert (name, superuser, bypass, create_role, create_database, replication) == (name, False, False, False, False, False)


@pytest.mark.req("P4", "PG-16")
def test_row_security_is_forced_on_every_table_with_a_user(facts: dict[str, Any]) -> None:
    of_users = [row for row in facts["tables"] if row[4]]
    assert {"users", "devices", "audit_log", "jobs"} <= {row[0] for row in of_users}
    assert [row[0] for row in of_users if not (row[1] and row[2])] == []
    assert {row[3] for row in facts["tables"]} == {"handrail_owner"}


@pytest.mark.req("P4", "PG-16")
def test_everything_beyond_the_role_is_refused(facts: dict[str, Any]) -> None:
    assert {name: state for name, state in facts["attempts"].items() if state != NOT_ALLOWED} == {}


@pytest.mark.req("P4", "PG-16")
def test_without_a_bound_user_or_as_a_stranger_there_are_no_rows(facts: dict[str, Any]) -> None:
    """handrail_audit reads the audit log and nothing else; the others see nothing."""
    may_read_audit = facts["role"] == "handrail_audit"
    for who in ("unbound", "stranger"):
        rows = dict(facts[who])
        audit = rows.pop("audit_log")
        assert (audit > 0) is may_read_audit, (who, audit)
        assert set(rows.values()) <= {0, NOT_ALLOWED}, (who, rows)


@pytest.mark.req("P4")
def test_the_database_is_postgres_17_with_a_fixed_locale(facts: dict[str, Any]) -> None:
    assert facts["version"] // 10000 == 17
    assert facts["locale"] == ["C", "C.UTF-8", "UTF8"]


@pytest.mark.req("P4")
def test_the_server_keeps_fsync_checksums_and_scram(stack: Stack) -> None:
    script = """
    for setting in fsync full_page_writes password_encryption; do postgres -C $setting -D $PGDATA; done
    pg_controldata -D $PGDATA | sed -n 's/^Data page checksum version: *//p'
    """
    assert stack.sh("db", script).out.split() == ["on", "on", "scram-sha-256", "1"]
    rules = stack.sh("db", "grep -v '^#' /etc/handrail/pg_hba.conf").out
    assert {line.split()[-1] for line in rules.splitlines() if line.strip()} == {"scram-sha-256"}
    assert "extension: vector" in stack.sh("db", "ls /usr/share/postgresql/17/extension/vector.control && echo extension: vector").out
