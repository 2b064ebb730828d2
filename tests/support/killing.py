"""Kill a writer in the middle of its work and look at what is left."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from tests.support.killedwriter import SIZE, content


def kill_writers(work: Path, *, writers: int, kind: str) -> tuple[int, list[str]]:
    """How many writes were acknowledged by all writers together, and the names left beside the target.

    After each SIGKILL the target must be one whole content. AssertionError when it is not.
    """
    acknowledged = 0
    rng = random.Random(7)
    for _ in range(writers):
        with subprocess.Popen(
            [sys.executable, "-m", "tests.support.killedwriter", str(work), kind],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        ) as process:
            assert process.stdout is not None
            acknowledged += len(process.stdout.read(rng.randrange(1, 8)))
            until = time.perf_counter() + rng.random() * 0.004
            while time.perf_counter() < until:
                pass
            process.kill()
            acknowledged += len(process.stdout.read())
        data = (work / "target").read_bytes()
        assert data in (content(0), content(1)), f"half a file: {len(data)} of {SIZE}"
    return acknowledged, sorted(path.name for path in work.iterdir() if path.name != "target")
