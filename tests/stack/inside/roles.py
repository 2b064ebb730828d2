"""Runs inside a container: what its own database role is and may do. Prints JSON.

usage: roles.py SECRET   name of the file that holds the database URL
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import psycopg

SECRETS = Path("/run/handrail/secrets")
ROLES = """
select rolname, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication, rolcanlogin
from pg_roles where rolname like 'handrail%' order by rolname
"""
TABLES = """
select c.relname, c.relrowsecurity, c.relforcerowsecurity, pg_get_userbyid(c.relowner),
       exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'user_id' and not a.attisdropped)
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p') and n.nspname = 'public' order by c.relname
"""
ATTEMPTS = {
    "update audit": "update audit_log set details = '{}'",
    "delete audit": "delete from audit_log",
    "truncate audit": "truncate audit_log",
    "switch the trigger off": "alter table audit_log disable trigger all",
    "switch row security off": "alter table devices disable row level security",
    "become the owner": "set role handrail_owner",
    "become the superuser": "set role postgres",
    "create a table": "create table loot (x text)",
    "read passwords": "select rolpassword from pg_authid",
    "read a file of the server": "select pg_read_file('/etc/passwd')",
    "run a program": "copy (select 1) to program 'id'",
}
COUNTS = ("users", "devices", "pairings", "sessions", "approvals", "jobs", "audit_log")


def attempt(url: str, statement: str) -> str:
    """SQLSTATE of the failure, or 'done'."""
    with psycopg.connect(url) as connection:
        try:
            connection.execute(statement.encode())
        except psycopg.Error as exc:
            return exc.sqlstate or "?"
        return "done"


def count(url: str, table: str, user: str | None) -> int | str:
    """Rows of the table that the role sees, as `user` or as nobody; the SQLSTATE when it may not look at all."""
    with psycopg.connect(url) as connection, connection.transaction(force_rollback=True):
        try:
            if user is not None:
                connection.execute("select set_config('app.user_id', %s, true)", (user,))
            row = connection.execute(b"select count(*) from " + table.encode()).fetchone()
        except psycopg.Error as exc:
            return exc.sqlstate or "?"
        return int(row[0]) if row else -1


def main() -> None:
    """Everything as one JSON object."""
    url = (SECRETS / sys.argv[1]).read_text("ascii").strip()
    with psycopg.connect(url) as connection:
        facts: dict[str, object] = {
            "role": connection.info.user,
            "roles": connection.execute(ROLES).fetchall(),
            "tables": connection.execute(TABLES).fetchall(),
            "version": connection.info.server_version,
            "locale": connection.execute(
                "select datcollate, datctype, pg_encoding_to_char(encoding) from pg_database where datname = current_database()"
            ).fetchone(),
        }
    facts["attempts"] = {name: attempt(url, statement) for name, statement in ATTEMPTS.items()}
    facts["unbound"] = {table: count(url, table, None) for table in COUNTS}
    facts["stranger"] = {table: count(url, table, "00000000-0000-4000-8000-000000000000") for table in COUNTS}
    sys.stdout.write(json.dumps(facts))


main()
