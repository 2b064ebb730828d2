from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tools import stats

ROOT = Path(__file__).resolve().parents[2]


def function(text: str) -> stats.Function:
    node = ast.parse(text).body[0]
    assert isinstance(node, stats.Function)
    return node


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("def f() -> None: ...", True),
        ("def f(self, a: int, *, b: str) -> None: ...", True),
        ("def f(a) -> None: ...", False),
        ("def f(): ...", False),
        ("async def f(*args: int, **more) -> None: ...", False),
    ],
)
def test_a_function_is_typed_when_its_arguments_and_result_are(text: str, *, typed: bool) -> None:
    assert stats.typed(function(text)) is typed


@pytest.mark.parametrize(("values", "percent", "result"), [([], 99, 0), ([5], 99, 5), (list(range(1, 101)), 99, 99), ([3, 1, 2], 50, 2)])
def test_a_percentile_is_a_value_that_was_measured(values: list[int], percent: int, result: int) -> None:
    assert stats.percentile(values, percent) == result


def test_length_counts_the_lines_of_a_function() -> None:
    assert stats.length(function("def f() -> int:\n    x = 1\n    return x\n")) == 3


@pytest.mark.req("HAB-3")
def test_the_marks_are_printed() -> None:
    done = subprocess.run([sys.executable, "tools/stats.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    for mark in (
        "file median",
        "file max",
        "function p99",
        "functions fully typed",
        "broad excepts",
        "type-ignores",
        "test functions",
        "requirements",
    ):
        assert mark in done.stdout


@pytest.mark.req("HAB-3")
def test_no_file_is_longer_than_a_newcomer_reads() -> None:
    over = [mark for mark in [*stats.package_marks(), *stats.test_marks()] if "file max" in mark.name and not mark.ok]
    assert over == []


@pytest.mark.req("HAB-3")
def test_every_function_of_the_package_is_typed_and_broad_excepts_are_single_digits() -> None:
    over = [
        mark
        for mark in stats.package_marks()
        if mark.name in ("functions fully typed", "broad excepts where an error ends") and not mark.ok
    ]
    assert over == []


def test_the_ci_script_is_sound_shell() -> None:
    subprocess.run(["bash", "-n", ".ci/run"], cwd=ROOT, check=True)
