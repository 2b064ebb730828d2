"""Everyday development commands pass unasked: needless questions are a fault too."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from handrail.policy import Context, check

CONTEXT = Context(cwd="/work/p", home="/home/u", work_root="/work/p", data_dir="/home/u/.handrail")
# one command a line; a newline inside a command is written as this sign
NEWLINE = "⏎"
COMMANDS = [
    line.replace(NEWLINE, "\n")
    for line in Path(__file__).with_name("everyday.txt").read_text(encoding="utf-8").splitlines()
    if line.strip()
]
LEAST = 1000
MOST_ASKED = 0.02


@pytest.mark.req("D21", "D26", "D29")
def test_at_most_two_percent_of_everyday_commands_ask_and_none_is_denied() -> None:
    verdicts = {command: check(command, CONTEXT) for command in COMMANDS}
    denied = [command for command, verdict in verdicts.items() if verdict.level == "deny"]
    asked = {command: [reason.rule for reason in verdict.reasons] for command, verdict in verdicts.items() if verdict.level == "confirm"}
    assert not denied
    assert len(asked) <= MOST_ASKED * len(COMMANDS), asked


def test_the_corpus_is_large_varied_and_without_repeats() -> None:
    assert len(COMMANDS) >= LEAST
    assert [command for command, count in Counter(COMMANDS).items() if count > 1] == []
    assert len({command.split()[0] for command in COMMANDS}) >= 250  # different programs
    assert sum(not command.isascii() for command in COMMANDS) >= 50  # paths and text in Chinese
