"""Shared fixtures. Real servers, started once a session; what is missing fails, it is never skipped."""

from __future__ import annotations

import re
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from handrail.cli.embedded.layout import Layout
from tests.support.places import reachable_dir
from tests.support.servers import Postgres, Valkey, layout_in, running_postgres, running_valkey

if TYPE_CHECKING:
    from tests.demo.client import Client
    from tests.demo.embedded import Running
    from tests.support.database import Prepared


@pytest.fixture(scope="session")
def servers_layout() -> Generator[Layout]:
    """Data and run directory that the session's Postgres and Valkey share."""
    with reachable_dir() as base:
        yield layout_in(base / "data")


@pytest.fixture(scope="session")
def postgres(servers_layout: Layout) -> Generator[Postgres]:
    """A real embedded Postgres: `.url(database)` is the superuser's, `.create(name)` makes a database."""
    with running_postgres(servers_layout) as server:
        yield server


@pytest.fixture(scope="session")
def valkey(servers_layout: Layout) -> Generator[Valkey]:
    """A real embedded Valkey: `.url(n)` for redis-py, `.flush()` empties it."""
    with running_valkey(servers_layout) as server:
        yield server


@pytest.fixture(scope="module")
def empty_database(postgres: Postgres, request: pytest.FixtureRequest) -> Generator[str]:
    """Superuser URL of a new empty database of this test module; dropped at its end."""
    name = "m_" + re.sub(r"\W", "_", Path(str(request.path)).stem)[:40]
    postgres.drop(name)
    yield postgres.create(name)
    postgres.drop(name)


@pytest.fixture(scope="session")
def shared_dir() -> Generator[Path]:
    """A directory of the whole session that the services' account can pass through."""
    with reachable_dir() as base:
        yield base


@pytest.fixture(scope="module")
def prepared(postgres: Postgres, valkey: Valkey, shared_dir: Path, request: pytest.FixtureRequest) -> Generator[Prepared]:
    """A database of this test module as `handrail.store.init` leaves it; `.url("api")` is the URL of role handrail_api."""
    from tests.support.database import prepare  # the store room is needed by these tests only

    name = "p_" + re.sub(r"\W", "_", Path(str(request.path)).stem)[:40]
    postgres.drop(name)
    valkey.flush()
    yield prepare(postgres, valkey, shared_dir, name)
    postgres.drop(name)


@pytest.fixture(scope="session")
def handrail() -> Generator[Running]:
    """The whole embedded form, started by its command: `.url`, `.workdir`, `.data`, `.paircode()`. Shared by a session's tests."""
    from tests.demo.embedded import running_handrail  # a start costs seconds: only for who asks

    with running_handrail() as running:
        yield running


@pytest.fixture(scope="module")
def client(handrail: Running) -> Generator[Client]:
    """A paired client of the owner."""
    from tests.demo.client import Client  # as above

    with Client(handrail.url) as it:
        it.pair(handrail.paircode(), "tests")
        yield it
