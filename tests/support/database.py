"""A set-up database for tests: the product's own set-up runs once, each module then gets a copy."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from handrail.store.init.files import Vault
from handrail.store.init.run import Plan, set_up
from handrail.store.urls import with_role
from tests.support.servers import Postgres, Valkey

TEMPLATE = "handrail_template"


@dataclass(frozen=True, slots=True)
class Prepared:
    """Addresses of one set-up database, by role, and its secrets."""

    admin: str
    owner: str
    api: str
    worker: str
    audit: str
    secrets: Path
    workdir: Path


def vault_of(postgres: Postgres) -> Vault:
    """One vault a server: roles belong to the whole server, so their passwords must be the same for every module."""
    return Vault(postgres.layout.data / "test-secrets")


def make_template(postgres: Postgres, valkey: Valkey, workdir: Path) -> None:
    """Run the set-up into the template database."""
    plan = Plan(admin_url=postgres.url(), redis_url=valkey.url(), workdir=workdir, database=TEMPLATE)
    asyncio.run(set_up(plan, vault_of(postgres), lambda step, outcome: None))


def copy(postgres: Postgres, name: str, workdir: Path) -> Prepared:
    """A copy of the template called `name`."""
    from handrail.store.init.keys import role_passwords

    postgres.drop(name)
    admin = postgres.create(name, TEMPLATE)
    vault = vault_of(postgres)
    passwords = role_passwords(vault)
    urls = {role: with_role(admin, role=f"handrail_{role}", password=passwords[f"handrail_{role}"], database=name) for role in ROLES}
    return Prepared(admin=admin, **urls, secrets=vault.root, workdir=workdir)


ROLES = ("owner", "api", "worker", "audit")
