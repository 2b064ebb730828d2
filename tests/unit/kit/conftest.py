from __future__ import annotations

from pathlib import Path

import pytest

from handrail.kit import openat2
from handrail.kit.paths import Scope
from tests.support.filetree import World, build


@pytest.fixture
def world(tmp_path: Path) -> World:
    return build(tmp_path)


@pytest.fixture(params=["openat2", "component walk"])
def scope(world: World, request: pytest.FixtureRequest) -> Scope:
    fast = request.param == "openat2"
    assert openat2.available()
    return world.scope(fast=fast)
