"""The marks of the code base: sizes, types, excepts, requirements. A habit to look at (`make stats`), not a gate."""

from __future__ import annotations

import ast
import re
import statistics
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":  # run as a script: `python tools/stats.py`
    sys.path.insert(0, str(ROOT))

from tools.houselint.base import Module  # noqa: E402 - after the path is set
from tools.houselint.honesty import comments, swallowing_handlers  # noqa: E402 - as above
from tools.requirements import marks, requirements  # noqa: E402 - as above

FILE_MEDIAN, FILE_MAX, TEST_FILE_MAX, FUNCTION_P99, BROAD_MAX = 90, 500, 800, 80, 9
PERCENT = 100
IGNORE = re.compile(r"#\s*(?:type|pyright):\s*ignore")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Mark:
    """One figure and the value it should keep to; `ok` is None for a figure without a limit."""

    name: str
    value: str
    limit: str = ""
    ok: bool | None = None


def sources(top: Path) -> list[Module]:
    """Python files below `top`."""
    return [
        Module(path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))
        for path in sorted(top.rglob("*.py"))
        if "demo/sample" not in path.as_posix()
    ]


def functions(modules: Iterable[Module]) -> list[Function]:
    """Every function and method."""
    return [node for module in modules for node in ast.walk(module.tree) if isinstance(node, Function)]


def length(function: Function) -> int:
    """Lines from `def` to the last one."""
    return (function.end_lineno or function.lineno) - function.lineno + 1


def typed(function: Function) -> bool:
    """Return type and every argument but self and cls annotated."""
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    if function.args.vararg:
        arguments.append(function.args.vararg)
    if function.args.kwarg:
        arguments.append(function.args.kwarg)
    return function.returns is not None and all(argument.annotation or argument.arg in ("self", "cls") for argument in arguments)


def percentile(values: list[int], percent: int) -> int:
    """Nearest rank; 0 for no values."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // PERCENT) - 1)] if ordered else 0


def collected(modules: Iterable[Module]) -> int:
    """Test functions as written; a parametrised one counts once."""
    return sum(function.name.startswith("test_") for function in functions(modules))


def package_marks() -> list[Mark]:
    """Figures of services/handrail."""
    modules = sources(ROOT / "services" / "handrail")
    sizes = [module.text.count("\n") for module in modules if module.text.count("\n") > 1]
    every = functions(modules)
    lengths = [length(function) for function in every]
    share = PERCENT * sum(map(typed, every)) / max(1, len(every))
    broad = sum(1 for module in modules for _ in swallowing_handlers(module))
    ignores = sum(1 for module in modules for _, text in comments(module) if IGNORE.search(text))
    median = statistics.median(sizes) if sizes else 0
    return [
        Mark("package files", str(len(modules))),
        Mark("package lines", str(sum(sizes))),
        Mark("file median (lines)", f"{median:g}", f"<= {FILE_MEDIAN}", median <= FILE_MEDIAN),
        Mark("file max (lines)", str(max(sizes, default=0)), f"<= {FILE_MAX}", max(sizes, default=0) <= FILE_MAX),
        Mark("functions", str(len(every))),
        Mark("function p99 (lines)", str(percentile(lengths, 99)), f"<= {FUNCTION_P99}", percentile(lengths, 99) <= FUNCTION_P99),
        Mark("functions fully typed", f"{share:.1f} %", "100 %", share == PERCENT),
        Mark("broad excepts where an error ends", str(broad), f"<= {BROAD_MAX}", broad <= BROAD_MAX),
        Mark("type-ignores (each with a reason)", str(ignores)),
    ]


def test_marks() -> list[Mark]:
    """Figures of tests/ and the manifest."""
    modules = sources(ROOT / "tests")
    largest = max((module.text.count("\n") for module in modules), default=0)
    return [
        Mark("test files", str(len(modules))),
        Mark("test file max (lines)", str(largest), f"<= {TEST_FILE_MAX}", largest <= TEST_FILE_MAX),
        Mark("test functions", str(collected(modules))),
        Mark("requirements", str(len(requirements()))),
        Mark("requirement ids named by tests", str(len({mark.id for mark in marks()}))),
    ]


def main() -> None:
    """Print the table."""
    table = Table("mark", "value", "to keep", "")
    for mark in [*package_marks(), *test_marks()]:
        sign = "" if mark.ok is None else "ok" if mark.ok else "[red]over[/red]"
        table.add_row(mark.name, mark.value, mark.limit, sign)
    Console().print(table)


if __name__ == "__main__":
    main()
