"""Everyday work is not interrupted: a needless question is a fault too."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.policy import Context, check

CONTEXT = Context(cwd="/work/p", home="/home/u", work_root="/work/p", data_dir="/home/u/.handrail")
LINES = Path(__file__).with_name("everyday.txt").read_text(encoding="utf-8").splitlines()
COMMANDS = [line.replace("␤", "\n") for line in LINES if line and not line.startswith("## ")]
LEAST = 1000
MOST_ASKED = 0.02
# as a workspace of an embedded server sees itself, and one whose root is the home directory
PLACES = [
    CONTEXT,
    Context("/srv/team/a", "/var/lib/handrail/homes/w1/home", "/srv/team/a", "/var/lib/handrail"),
    Context("/home/u", "/home/u", "/home/u", "/home/u/.handrail"),
]


@pytest.mark.req("D21")
def test_the_corpus_is_large_and_without_repetition() -> None:
    assert len(COMMANDS) >= LEAST
    assert len(set(COMMANDS)) == len(COMMANDS)
    assert sum(not command.isascii() for command in COMMANDS) >= 30


@pytest.mark.req("D21", "D26")
@pytest.mark.parametrize("place", PLACES, ids=["project", "workspace", "home"])
def test_everyday_commands_are_asked_about_in_two_of_a_hundred_at_most_and_never_denied(place: Context) -> None:
    verdicts = {command: check(command, place) for command in COMMANDS}
    denied = [command for command, verdict in verdicts.items() if verdict.level == "deny"]
    asked = [command for command, verdict in verdicts.items() if verdict.level == "confirm"]
    assert denied == []
    assert len(asked) <= MOST_ASKED * len(COMMANDS), asked
