"""What the database itself says about who may see and do what."""

from __future__ import annotations

import re
from typing import cast

import pytest

from handrail.store.session import BINDINGS
from tests.support.database import Prepared

pytestmark = pytest.mark.req("B5", "P4", "PG-16")

TABLES = b"""
select c.relname as name, c.relrowsecurity as enabled, c.relforcerowsecurity as forced, r.rolname as owner,
       exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'user_id' and not a.attisdropped) as has_user
from pg_class c join pg_roles r on r.oid = c.relowner
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
order by c.relname
"""
POLICIES = b"""
select tablename as name, policyname as policy, cmd, roles::text[] as roles, qual, with_check from pg_policies where schemaname = 'public'
order by tablename, policyname
"""
GRANTS = b"""
select table_name as name, grantee, privilege_type as privilege from information_schema.role_table_grants
where table_schema = 'public' and grantee <> 'handrail_owner' and grantee <> 'postgres'
"""
APPEND_ONLY = {"audit_log", "audit_checkpoints"}
# no user column, and still nobody's but their members'
WITHOUT_USER = {"workspaces", "audit_checkpoints"}
OPEN = {"handrail_migrations"}  # version numbers only


def test_every_table_has_row_level_security_enabled_and_forced(prepared: Prepared) -> None:
    tables = {row["name"]: row for row in prepared.query(TABLES)}
    assert set(tables) - OPEN == {name for name, row in tables.items() if row["has_user"]} | WITHOUT_USER
    for name, row in tables.items():
        assert row["owner"] == "handrail_owner"
        assert (row["enabled"], row["forced"]) == ((False, False) if name in OPEN else (True, True)), name


def test_every_policy_names_its_roles_and_a_binding(prepared: Prepared) -> None:
    for row in prepared.query(POLICIES):
        where = f"{row['name']}.{row['policy']}"
        roles = {str(role) for role in cast("list[object]", row["roles"])}
        assert roles, where
        assert "public" not in roles, where
        if roles == {"handrail_audit"}:
            assert (row["cmd"], row["qual"], row["with_check"]) == ("SELECT", "true", None), where
            continue
        for clause in (row["qual"], row["with_check"]):
            assert clause is None or clause == "false" or re.search(r"app_(user|hash|scope|writer)\(", str(clause)), where
        if row["cmd"] in ("ALL", "UPDATE"):
            assert row["qual"] is not None, where
            assert row["with_check"] is not None, where
        if row["cmd"] == "INSERT":
            assert row["with_check"] is not None, where


def test_every_table_with_rows_of_users_has_a_policy(prepared: Prepared) -> None:
    with_policy = {row["name"] for row in prepared.query(POLICIES)}
    assert with_policy == {row["name"] for row in prepared.query(TABLES)} - OPEN


def test_the_settings_that_policies_read_are_the_listed_ones(prepared: Prepared) -> None:
    functions = prepared.query(
        b"select proname as name, prosrc as source from pg_proc where pronamespace = 'public'::regnamespace and proname like 'app\\_%'"
    )
    source = " ".join(str(row["source"]) for row in functions)
    read = set(re.findall(r"'(app\.\w+)'", source)) | {f"app.{name}_hash" for name in hash_names(prepared)}
    assert read == set(BINDINGS)


def hash_names(prepared: Prepared) -> set[str]:
    text = " ".join(f"{row['qual']} {row['with_check']}" for row in prepared.query(POLICIES))
    return set(re.findall(r"app_hash\('(\w+)'", text))


def test_the_audit_tables_grant_insert_and_select_and_nothing_else(prepared: Prepared) -> None:
    for row in prepared.query(GRANTS):
        if row["name"] in APPEND_ONLY:
            allowed = {"SELECT"} if row["grantee"] == "handrail_audit" else {"SELECT", "INSERT"}
            assert row["privilege"] in allowed, row


def test_nobody_outside_our_roles_has_any_grant(prepared: Prepared) -> None:
    grantees = {row["grantee"] for row in prepared.query(GRANTS)}
    assert grantees == {"handrail_api", "handrail_worker", "handrail_audit"}
    audit = {(row["name"], row["privilege"]) for row in prepared.query(GRANTS) if row["grantee"] == "handrail_audit"}
    assert audit == {(name, "SELECT") for name in APPEND_ONLY | OPEN}


def test_our_roles_log_in_and_can_do_nothing_past_the_policies(prepared: Prepared) -> None:
    rows = prepared.query(
        b"select rolname, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication, rolcanlogin "
        b"from pg_roles where rolname like 'handrail\\_%'"
    )
    assert {row["rolname"] for row in rows} == {"handrail_owner", "handrail_api", "handrail_worker", "handrail_audit"}
    for row in rows:
        rights = [row[name] for name in ("rolsuper", "rolbypassrls", "rolcreaterole", "rolcreatedb", "rolreplication")]
        assert rights == [False] * 5
        assert row["rolcanlogin"]


def test_no_extension_but_vector(prepared: Prepared) -> None:
    assert {row["extname"] for row in prepared.query(b"select extname from pg_extension")} <= {"plpgsql", "vector"}
