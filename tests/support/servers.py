"""Real Postgres and Valkey for tests, started by the product's own starters."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import redis
from psycopg import sql

from handrail.cli.embedded import postgres, valkey
from handrail.cli.embedded.layout import Layout, prepare, run_dir_for
from handrail.jail import spawn
from tests.support.places import account
from tests.support.wait import until


@dataclass(frozen=True, slots=True)
class Postgres:
    """A running Postgres 18 with pgvector; one a test session."""

    layout: Layout

    def url(self, database: str = "postgres") -> str:
        """Superuser URL."""
        return postgres.url(self.layout, database)

    @property
    def socket_dir(self) -> Path:
        return self.layout.run / "pg"

    def create(self, name: str, template: str = "template0") -> str:
        """Create a database (LC_COLLATE C, LC_CTYPE C.UTF-8) and return its superuser URL."""
        statement = sql.SQL("create database {} template {} encoding 'UTF8' lc_collate 'C' lc_ctype 'C.UTF-8'")
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(statement.format(sql.Identifier(name), sql.Identifier(template)))
        return self.url(name)

    def drop(self, name: str) -> None:
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))


@dataclass(frozen=True, slots=True)
class Valkey:
    """A running Valkey; one a test session. Tests that need it empty call `flush`."""

    layout: Layout

    def url(self, database: int = 0) -> str:
        return valkey.url(self.layout, database)

    @property
    def socket(self) -> Path:
        return self.layout.valkey_socket

    def flush(self) -> None:
        client = redis.Redis.from_url(self.url())
        client.flushall()
        client.close()


def layout_in(data: Path) -> Layout:
    """The layout of `data`, its directories created with the right owner."""
    layout = Layout(data, run_dir_for(data), account())
    prepare(layout)
    return layout


@contextlib.contextmanager
def running_postgres(layout: Layout) -> Generator[Postgres]:
    """Start Postgres in `layout` (initdb when needed) and stop it at the end."""
    postgres.init_database(layout)
    argv, env = postgres.command(layout)
    with _log(layout, "postgres") as log:
        child = spawn.start(argv, env=env, cwd=str(layout.data), log=log, account=layout.account, pdeathsig=postgres.STOP_SIGNAL)
    try:
        until(lambda: postgres.is_ready(layout, child.pid) or _died(child, layout, "postgres"), "Postgres takes connections", 60)
        yield Postgres(layout)
    finally:
        child.signal(postgres.STOP_SIGNAL)
        if child.wait(10) is None:
            child.stop(1)


@contextlib.contextmanager
def running_valkey(layout: Layout) -> Generator[Valkey]:
    """Start Valkey in `layout` and stop it at the end."""
    argv, env = valkey.command(layout)
    with _log(layout, "valkey") as log:
        child = spawn.start(argv, env=env, cwd=str(layout.data), log=log, account=layout.account)
    try:
        until(lambda: valkey.is_ready(layout) or _died(child, layout, "valkey"), "Valkey answers", 30)
        yield Valkey(layout)
    finally:
        child.stop(5)


@contextlib.contextmanager
def _log(layout: Layout, name: str) -> Generator[int]:
    fd = os.open(layout.logs / f"{name}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        yield fd
    finally:
        os.close(fd)


def _died(child: spawn.Child, layout: Layout, name: str) -> bool:
    code = child.poll()
    if code is not None:
        raise AssertionError(f"{name} ended with {code}: {(layout.logs / f'{name}.log').read_text()[-2000:]}")
    return False
