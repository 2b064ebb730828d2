"""Every variant of every attack row is at least asked about; what would destroy is denied."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from handrail.policy import Context, check
from handrail.policy.verdict import SEVERITY, Level

CONTEXT = Context(cwd="/work/p", home="/home/u", work_root="/work/p", data_dir="/home/u/.handrail")
ROWS: dict[str, dict[str, list[str]]] = tomllib.loads(Path(__file__).with_name("attacks.toml").read_text(encoding="utf-8"))
LEAST: dict[str, Level] = {"ask": "confirm", "deny": "deny"}
VARIANTS = [(row, LEAST[least], command) for row, by_level in ROWS.items() for least, commands in by_level.items() for command in commands]


@pytest.mark.req(
    "ATK-1", "ATK-2", "ATK-3", "ATK-4", "ATK-5", "ATK-6", "ATK-7", "ATK-8", "ATK-9", "ATK-10", "ATK-11", "ATK-12", "ATK-13", "ATK-14",
    "ATK-16", "ATK-17", "ATK-18",
)  # fmt: skip
@pytest.mark.parametrize(("row", "least", "command"), VARIANTS, ids=[f"{row}-{command[:50]!r}" for row, _, command in VARIANTS])
def test_an_attack_is_never_milder_than_its_row_says(row: str, least: Level, command: str) -> None:
    verdict = check(command, CONTEXT)
    assert SEVERITY[verdict.level] >= SEVERITY[least], (row, [reason.rule for reason in verdict.reasons])


@pytest.mark.parametrize("row", [row for row in ROWS if row != "ATK-15"])
def test_each_row_has_at_least_five_variants_of_our_own(row: str) -> None:
    assert sum(len(commands) for commands in ROWS[row].values()) >= 5


@pytest.mark.req("ATK-15", "ATK-1")
@pytest.mark.parametrize("joint", [" && ", "; ", "\n", " | ", " || ", " & "])
@pytest.mark.parametrize("count", [60, 199, 500, 5000])
def test_behind_any_number_of_harmless_commands_a_denied_one_is_denied(joint: str, count: int) -> None:
    assert check(joint.join([*["true"] * count, "rm -rf /"]), CONTEXT).level == "deny"


@pytest.mark.req("ATK-15")
def test_more_commands_than_the_cap_are_denied_whatever_they_are() -> None:
    assert check("; ".join(["true"] * 200), CONTEXT).level == "allow"
    assert check("; ".join(["true"] * 201), CONTEXT).level == "deny"


@pytest.mark.req("ATK-15", "PF-A12")
@pytest.mark.parametrize(
    "command",
    [
        "echo " + "a" * 65536,
        "( " * 200 + "ls" + ")" * 200,
        "echo " + "$(" * 60 + "ls" + ")" * 60,
        "echo " + "${x:-" * 60 + "a" + "}" * 60,
        "{ " * 100 + "ls" + "; }" * 100,
        "if " * 100 + "ls",
    ],
    ids=["64 kB", "groups", "substitutions", "expansions", "braces", "ifs"],
)
def test_what_is_too_long_or_too_deep_is_denied(command: str) -> None:
    assert check(command, CONTEXT).level == "deny"


@pytest.mark.req("D23", "D24")
def test_payloads_are_followed_ten_deep_and_denied_deeper() -> None:
    inner = "rm -rf /"
    for depth in range(1, 11):
        inner = f"eval {shell_quoted(inner)}" if depth % 2 else f"bash -c {shell_quoted(inner)}"
        if len(inner) < 60000:
            assert check(inner, CONTEXT).level == "deny", depth
    harmless = "ls"
    for _ in range(12):
        harmless = f"bash -c {shell_quoted(harmless)}"
    assert check(harmless, CONTEXT).level == "deny"


def shell_quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


@pytest.mark.req("D10")
@pytest.mark.parametrize(
    "command",
    [
        ":(){ :|:& };:", "bomb() { bomb | bomb & }; bomb", "f() { f & f; }; f", "function f { f | f & }; f", "a() { b & }; b() { a & a; }; a",
        "f() { f & }; f", "f(){ f|f;};f", "f() { while :; do f & done; }; f", "b=1; x() { x | x & }; x", "bash -c ':(){ :|:& };:'", "f() ( f | f & ); f",
    ],
)  # fmt: skip
def test_a_fork_bomb_is_denied(command: str) -> None:
    assert check(command, CONTEXT).level == "deny"


@pytest.mark.req("D10")
def test_plain_recursion_is_no_fork_bomb() -> None:
    assert check('walk() { for f in "$1"/*; do [ -d "$f" ] && walk "$f"; done; }; walk .', CONTEXT).level == "allow"
