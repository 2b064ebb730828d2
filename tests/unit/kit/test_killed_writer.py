from __future__ import annotations

from pathlib import Path

import pytest

from handrail.kit.files import is_temporary
from tests.support.killing import kill_writers


@pytest.mark.req("PF-B3", "C5")
@pytest.mark.parametrize("kind", ["unnamed", "named"])
def test_a_killed_writer_leaves_the_old_file_or_the_new_one(tmp_path: Path, kind: str) -> None:
    acknowledged, left = kill_writers(tmp_path, writers=8, kind=kind)
    assert acknowledged >= 8
    # what a kill between two system calls leaves is never shown to anybody
    assert all(is_temporary(name) for name in left)
