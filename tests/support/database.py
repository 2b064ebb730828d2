"""A database as `handrail.store.init` leaves it: roles, tables, first user and workspace, secrets by zone."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.rows import dict_row

from handrail.store.init.files import Vault
from handrail.store.init.run import Plan, set_up
from tests.support.places import make_workdir
from tests.support.servers import Postgres, Valkey


@dataclass(frozen=True, slots=True)
class Prepared:
    """One prepared database. `secrets` holds the zones' directories as the services read them."""

    name: str
    secrets: Path
    workdir: Path
    superuser_url: str

    def url(self, zone: str, name: str = "database_url") -> str:
        """A secret of a zone, e.g. url("worker") is the URL of role handrail_worker."""
        return (self.secrets / zone / name).read_text(encoding="utf-8").strip()

    def query(self, statement: bytes, values: dict[str, object] | None = None) -> list[dict[str, object]]:
        """As superuser, past row-level security: to look at what really is in the tables."""
        with psycopg.connect(self.superuser_url, autocommit=True) as connection, connection.cursor(row_factory=dict_row) as cursor:
            cursor.execute(statement, values)
            return list(cursor) if cursor.description else []


def prepare(postgres: Postgres, valkey: Valkey, base: Path, name: str) -> Prepared:
    """Set up database `name` below `base`. Roles are the cluster's, so their passwords live in one vault for all."""
    vault = base / "vault"
    vault.mkdir(exist_ok=True)
    workdir = make_workdir(base / f"work-{name}")
    plan = Plan(admin_url=postgres.url(), redis_url=valkey.url(), workdir=workdir, database=name)
    asyncio.run(set_up(plan, Vault(vault), lambda _step, _outcome: None))
    own = base / f"secrets-{name}"
    shutil.rmtree(own, ignore_errors=True)
    shutil.copytree(vault, own)
    return Prepared(name, own, workdir, postgres.url(name))
