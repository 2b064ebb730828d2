from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.support.sandbox import Box, running_box


@pytest.fixture(scope="module")
def box() -> Generator[Box]:
    """A sandbox service of this module's own."""
    with running_box() as started:
        yield started
