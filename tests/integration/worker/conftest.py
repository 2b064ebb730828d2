from __future__ import annotations

from collections.abc import Generator

import pytest

from handrail.worker.settings import WorkerSettings
from tests.integration.worker.support import Bench, environment
from tests.support.database import Prepared


@pytest.fixture(scope="module")
def worker_settings(prepared: Prepared) -> WorkerSettings:
    """As the worker process of this module reads them."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment(prepared).items():
            patch.setenv(name, value)
        return WorkerSettings.load()


@pytest.fixture(scope="module")
def bench(prepared: Prepared, worker_settings: WorkerSettings) -> Generator[Bench]:
    """This process's way to the queue and the rows."""
    bench = Bench(prepared, worker_settings)
    yield bench
    bench.close()
