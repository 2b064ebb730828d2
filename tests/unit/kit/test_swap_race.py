from __future__ import annotations

import pytest

from handrail.kit.paths import Scope
from tests.support.filetree import World
from tests.support.swaprace import race


@pytest.mark.req("C2", "ATK-22")
def test_a_thousand_operations_under_link_swaps_never_reach_outside(world: World, scope: Scope) -> None:
    succeeded = race(world, scope, 1000)
    # the attack is real only if the operations did work in between
    assert succeeded["read"] > 0
    assert succeeded["write"] > 0
    assert "read what is only outside" not in succeeded
    assert "delete what is only outside" not in succeeded
    assert "rename" not in succeeded
