"""The long versions of the file races. `make test-security` runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.kit.files import is_temporary
from tests.support.filetree import build
from tests.support.killing import kill_writers
from tests.support.swaprace import race


@pytest.mark.timeout(900)
@pytest.mark.req("C2", "ATK-22")
@pytest.mark.parametrize("fast", [True, False], ids=["openat2", "component walk"])
def test_a_hundred_thousand_operations_under_link_swaps_never_reach_outside(tmp_path: Path, fast: bool) -> None:
    world = build(tmp_path)
    succeeded = race(world, world.scope(fast=fast), 100_000)
    assert min(succeeded[name] for name in ("read", "write", "list", "walk", "delete", "upload", "download", "archive", "move in")) > 0
    assert not {"read what is only outside", "delete what is only outside", "rename", "move out"} & set(succeeded)


@pytest.mark.timeout(900)
@pytest.mark.req("PF-B3")
@pytest.mark.parametrize("kind", ["unnamed", "named"])
def test_killed_writers_leave_the_old_file_or_the_new_one(tmp_path: Path, kind: str) -> None:
    acknowledged, left = kill_writers(tmp_path, writers=300, kind=kind)
    assert acknowledged >= 1000
    assert all(is_temporary(name) for name in left)
