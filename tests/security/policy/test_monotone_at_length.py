"""The properties of tests/unit/policy/test_monotone.py, tens of thousands of times."""

from __future__ import annotations

import random
import re
from functools import cache

import pytest

from handrail.policy import Context, check
from handrail.policy.verdict import SEVERITY
from tests.support.wrappings import ANYWHERE, AS_TEXT, OUTER, PREFIXES, SIMPLE, Wrap, around, as_text, attacks, cases, quotes

CONTEXT = Context(cwd="/work/p", home="/home/u", work_root="/work/p", data_dir="/home/u/.handrail")
SEEDS = 8
A_SEED = 2500
POSITIONAL = re.compile(r"\$[@*1-9]|\$\{[@*1-9]")
TIMEOUT_S = 600


@cache
def level(command: str) -> int:
    return SEVERITY[check(command, CONTEXT).level]


@cache
def whole() -> list[str]:
    """Commands that are complete in themselves."""
    commands = sorted({command for command in [*attacks(), *cases()] if command.strip() and len(command) < 2000})
    # what reads positional parameters means something else where a wrapping sets them
    return [
        c
        for c in commands
        if not POSITIONAL.search(c) and not any(reason.rule in ("text.grammar", "text.joined") for reason in check(c, CONTEXT).reasons)
    ]


def layer(chance: random.Random) -> Wrap:
    if chance.random() < 0.5:
        return around(chance.choice(ANYWHERE))
    return as_text(chance.choice(AS_TEXT), chance.choice(quotes()))


def generated(chance: random.Random) -> tuple[str, str]:
    """A command and the same command wrapped."""
    if chance.random() < 0.5:
        command, layers = chance.choice(whole()), [layer(chance) for _ in range(chance.randint(1, 3))]
    else:
        command = chance.choice(SIMPLE)
        layers = [around(chance.choice(PREFIXES))]
        layers += [around(chance.choice(OUTER)) for _ in range(chance.randint(0, 2))]
        layers += [layer(chance) for _ in range(chance.randint(0, 2))]
    wrapped = command
    for one in layers:
        wrapped = one(wrapped)
    return command, wrapped


@pytest.mark.req("D22", "D23", "D25", "D27")
@pytest.mark.timeout(TIMEOUT_S)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_wrapping_makes_a_verdict_milder(seed: int) -> None:
    chance = random.Random(seed)
    milder = [
        (c, wrapped) for c, wrapped in (generated(chance) for _ in range(A_SEED)) if SEVERITY[check(wrapped, CONTEXT).level] < level(c)
    ]
    assert milder == []


ALPHABET = [chr(code) for code in range(32, 127)] + [
    "\n",
    "\t",
    "\r",
    "\x00",
    "\x0b",
    "\u200b",
    "\u3000",
    "é",
    "中",
    "\ud800",
    "\ue000",
    "\ue003",
]
WORDS = [
    "rm",
    "-rf",
    "/",
    "$(",
    "${",
    "$((",
    "))",
    "<<E\n",
    "\nE\n",
    "if ",
    "; then ",
    "fi",
    "case x in ",
    "esac",
    "'",
    '"',
    "`",
    "[[",
    "]]",
    "f() {",
    "}",
    "&&",
    ">(",
    "eval ",
]


@pytest.mark.req("PF-A12")
@pytest.mark.timeout(TIMEOUT_S)
@pytest.mark.parametrize("seed", range(4))
def test_no_text_makes_the_policy_fail(seed: int) -> None:
    chance = random.Random(1000 + seed)
    for _ in range(A_SEED):
        text = "".join(chance.choice(WORDS if chance.random() < 0.3 else ALPHABET) for _ in range(chance.randint(0, 120)))
        verdict = check(text, CONTEXT)
        assert verdict.level in SEVERITY
        assert all(0 <= reason.start <= reason.end <= len(text) for reason in verdict.reasons), text
