"""Every judged example of the policy's reference."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from handrail.policy import Context, check

CONTEXT = Context(cwd="/work/p", home="/home/u", work_root="/work/p", data_dir="/home/u/.handrail")
CASES = [json.loads(line) for line in Path(__file__).with_name("cases.jsonl").read_text(encoding="utf-8").splitlines()]
# two rows of the reference contradict each other; the rule that a harmless sink is no device write decides
DECIDED = {"dd if=/dev/zero of=/dev/null count=1": "allow"}


@pytest.mark.req(
    "D6",
    "D7",
    "D8",
    "D9",
    "D10",
    "D11",
    "D12",
    "D13",
    "D14",
    "D15",
    "D16",
    "D17",
    "D18",
    "D19",
    "D20",
    "D22",
    "D23",
    "D24",
    "D25",
    "D26",
    "D27",
    "D28",
    "D29",
    "PF-A9",
)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['group']}:{case['command'][:40]!r}")
def test_the_verdict_is_the_reference_s(case: dict[str, str]) -> None:
    verdict = check(case["command"], CONTEXT)
    accepted = {case["verdict"], case.get("also_accepted"), DECIDED.get(case["command"])}
    assert verdict.level in accepted, [reason.rule for reason in verdict.reasons]


def test_nothing_is_missing() -> None:
    assert len(CASES) >= 362
