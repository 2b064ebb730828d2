"""Against a real bash: what the policy allows starts no program that the policy did not see."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from handrail.policy import Context, Verdict, check
from tests.support.recording import RecordingShell
from tests.support.shellmix import mixtures

WANTED = int(os.environ.get("HANDRAIL_TEST_DIFFERENTIAL", "2500"))  # allowed commands that run
SEEDS = (1, 2, 3, 4)
EVERYDAY = [
    line.replace("⏎", "\n")
    for line in (Path(__file__).parents[2] / "unit" / "policy" / "everyday.txt").read_text(encoding="utf-8").splitlines()
    if line.strip() and not line.startswith(("#", "bash -l"))  # a login shell runs what /etc/profile says
]
PROGRAMS = {command.split()[0] for command in EVERYDAY} | {"ma", "mb", "mc", "M", "touch", "rm", "curl", "tee", "date"}


def seen_names(verdict: Verdict) -> set[str]:
    """Base names of everything that the verdict lists."""
    return {(command.argv[0] or "").rstrip("/").rsplit("/", 1)[-1] for command in verdict.commands if command.argv}


def unseen(started: set[str], verdict: Verdict) -> set[str]:
    """What ran and is not listed. A name that begins with - or ~ is no program anywhere (`time -x`, a user who does not exist)."""
    return {name for name in started - seen_names(verdict) if not name.startswith(("-", "~"))}


@pytest.mark.req("D22", "D24", "D25")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", SEEDS)
def test_bash_starts_nothing_that_the_policy_did_not_see(seed: int) -> None:
    ran = ended = 0
    with RecordingShell(PROGRAMS) as shell:
        context = Context(cwd=shell.directory, home=shell.directory + "/home", work_root=shell.directory, data_dir="/home/u/.handrail")
        for command in mixtures(seed, EVERYDAY):
            if ran >= WANTED // len(SEEDS):
                break
            verdict = check(command, context)
            if verdict.level != "allow":
                continue
            ran += 1
            started = shell.started(command)
            if started is not None:
                ended += 1
                assert not unseen(started, verdict), (command, started, [found.argv for found in verdict.commands])
    assert ended > 0.9 * ran
