from __future__ import annotations

import asyncio
import stat
import time
from pathlib import Path

import psycopg
import pytest

from handrail.kit.canonical import loads
from handrail.store.errors import InitFailed
from handrail.store.init import database
from handrail.store.init.files import Vault
from handrail.store.init.run import Plan, set_up
from tests.support.database import Prepared
from tests.support.servers import Postgres, Valkey

pytestmark = pytest.mark.req("P3", "P4")

ZONES = {
    "api": {"audit.json", "audit_database_url", "broker_url", "database_url", "pepper", "public.json", "signing.json"},
    "worker": {"broker_url", "database_url"},
    "sandbox": {"public.json"},
    "init": {"owner_database_url", "role_passwords.json"},
}


def test_each_zone_has_its_own_secrets_and_no_other(prepared: Prepared) -> None:
    assert {zone.name: {file.name for file in zone.iterdir()} for zone in prepared.secrets.iterdir()} == ZONES
    for path in prepared.secrets.rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


def test_only_the_api_holds_a_private_key_and_the_sandbox_no_address(prepared: Prepared) -> None:
    for zone in ("worker", "sandbox"):
        text = "".join(path.read_text() for path in (prepared.secrets / zone).iterdir())
        assert "PRIVATE" not in text
    assert "postgresql://" not in "".join(path.read_text() for path in (prepared.secrets / "sandbox").iterdir())
    public = loads(prepared.url("sandbox", "public.json"))
    assert set(public) == set(loads(prepared.url("api", "signing.json"))["keys"])


def test_passwords_are_random_and_never_default(prepared: Prepared) -> None:
    passwords = loads(prepared.url("init", "role_passwords.json"))
    assert len(set(passwords.values())) == 4
    assert all(len(password) >= 40 for password in passwords.values())


def test_a_second_run_changes_nothing_and_is_quick(postgres: Postgres, valkey: Valkey, prepared: Prepared) -> None:
    vault = prepared.secrets.parent / "vault"
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in vault.rglob("*") if path.is_file()}
    said: dict[str, str] = {}
    plan = Plan(admin_url=postgres.url(), redis_url=valkey.url(), workdir=prepared.workdir, database=prepared.name)
    started = time.perf_counter()
    asyncio.run(set_up(plan, Vault(vault), said.__setitem__))
    took = time.perf_counter() - started
    after = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in vault.rglob("*") if path.is_file()}
    unchanged = {path: value for path, value in after.items() if "database_url" not in path.name}
    assert unchanged == {path: value for path, value in before.items() if "database_url" not in path.name}
    assert (said["keys"], said["database"], said["migrations"], said["workspace"]) == ("kept", "kept", "kept", "kept")
    assert took < 2.0  # 0.2 s on a quiet machine


def test_another_work_root_at_the_next_start_moves_the_workspace(
    postgres: Postgres, valkey: Valkey, prepared: Prepared, tmp_path: Path
) -> None:
    vault = Vault(prepared.secrets.parent / "vault")
    said: dict[str, str] = {}

    def start(workdir: Path) -> str:
        plan = Plan(admin_url=postgres.url(), redis_url=valkey.url(), workdir=workdir, database=prepared.name)
        asyncio.run(set_up(plan, vault, said.__setitem__))
        return str(prepared.query(b"select root from workspaces where name = 'main'")[0]["root"])

    assert start(tmp_path) == str(tmp_path)
    assert said["workspace"] == "moved"
    # what was set over the wire since stays as long as the start is the same
    prepared.query(b"update workspaces set root = '/srv/elsewhere' where name = 'main'")
    assert start(tmp_path) == "/srv/elsewhere"
    assert start(prepared.workdir) == str(prepared.workdir)


def test_the_first_user_is_an_administrator_with_a_workspace(prepared: Prepared) -> None:
    rows = prepared.query(
        b"select u.name, u.is_admin, m.role, w.name as workspace from users u "
        b"join members m using (user_id) join workspaces w using (workspace_id)"
    )
    assert {"name": "owner", "is_admin": True, "role": "owner", "workspace": "main"} in rows


def test_the_database_orders_by_code_point_and_knows_characters(prepared: Prepared) -> None:
    row = prepared.query(
        b"select datcollate, datctype, pg_encoding_to_char(encoding) as encoding from pg_database where datname = current_database()"
    )
    assert row == [{"datcollate": "C", "datctype": "C.UTF-8", "encoding": "UTF8"}]


def test_a_wrong_password_is_said_at_once(postgres: Postgres) -> None:
    url = postgres.url().replace("postgresql://postgres:", "postgresql://postgres:x")
    started = time.perf_counter()
    with pytest.raises(InitFailed, match="authentication failed"):
        asyncio.run(database.wait_for(url))
    assert time.perf_counter() - started < 5


def test_no_password_travels_in_clear_in_a_statement(prepared: Prepared) -> None:
    rows = prepared.query(b"select rolname, rolpassword from pg_authid where rolname like 'handrail\\_%'")
    assert all(str(row["rolpassword"]).startswith("SCRAM-SHA-256$") for row in rows)
    assert len(rows) == 4


def test_a_secret_file_is_replaced_whole_and_its_temporary_is_gone(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    vault.prepare()
    assert vault.write("api", "x", "one")
    assert not vault.write("api", "x", "one")
    assert vault.write("api", "x", "two")
    assert [path.name for path in (tmp_path / "api").iterdir()] == ["x"]
    assert vault.read("api", "x") == "two"
    assert vault.read("api", "none") is None


def test_the_api_role_cannot_read_the_pg_files_or_other_databases(prepared: Prepared) -> None:
    with psycopg.connect(prepared.url("api"), autocommit=True) as connection:
        for statement in (b"create table x (y int)", b"select pg_read_file('postgresql.conf')", b"copy users to program 'id'"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)
