"""What the policy allows starts nothing that the policy did not see: compared with the real bash."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.policy import Context, Verdict, check
from tests.support.recorder import Recorder
from tests.support.shellgen import Generator

CONTEXT = Context(cwd="/work/p", home="/home/u", work_root="/work/p", data_dir="/home/u/.handrail")
COMPARED = 100


def seen(verdict: Verdict) -> set[str]:
    """Base names of all programs that the policy found; `bash c1` runs the file c1, which is no secret either."""
    names: set[str] = set()
    for command in verdict.commands:
        words = [word.rsplit("/", 1)[-1] for word in command.argv if word]
        names.update(words if words[:1] in (["bash"], ["sh"]) else words[:1])
    return names


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(tmp_path)


@pytest.mark.req("D22", "D24", "D25")
def test_bash_starts_no_program_that_the_policy_did_not_see(recorder: Recorder) -> None:
    compared = started = seed = 0
    while compared < COMPARED:
        text = Generator(seed).text()
        seed += 1
        verdict = check(text, CONTEXT)
        if verdict.level != "allow":
            continue
        really = recorder.started(text)
        assert really <= seen(verdict), (seed - 1, text)
        compared += 1
        started += len(really)
    assert started > COMPARED  # the comparison compares something
