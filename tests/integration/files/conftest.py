"""One real Handrail with a small file limit for the tests of this directory."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.demo.client import Client
from tests.demo.embedded import Running, running_handrail
from tests.support.places import make_workdir

LIMIT = 1_000_000  # bytes of a file
UPLOAD_LIMIT = 3_000_000  # bytes of an upload


@pytest.fixture(scope="package")
def handrail() -> Generator[Running]:
    with running_handrail(
        HANDRAIL_RATE_LIMIT="0", HANDRAIL_FILE_MAX_SIZE=str(LIMIT), HANDRAIL_UPLOAD_MAX_SIZE=str(UPLOAD_LIMIT)
    ) as running:
        yield running


@pytest.fixture(scope="package")
def client(handrail: Running) -> Generator[Client]:
    with Client(handrail.url) as it:
        it.pair(handrail.paircode(), "file-tests")
        yield it


@pytest.fixture
def work(handrail: Running, request: pytest.FixtureRequest) -> Generator[Path]:
    """A directory of this test in the work root, owned by the services' account."""
    path = make_workdir(handrail.workdir / f"t{abs(hash(request.node.nodeid)):x}")
    yield path
    shutil.rmtree(path, ignore_errors=True)
