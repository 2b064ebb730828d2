from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.support.filecalls import Calls, calls_in


@pytest.fixture
def calls(tmp_path: Path) -> Generator[Calls]:
    made = calls_in(tmp_path)
    yield made
    made.service.close()


@pytest.fixture
def work(calls: Calls, tmp_path: Path) -> Path:
    return tmp_path / "work"
