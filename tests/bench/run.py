"""`make bench`: every tests/bench/*_bench.py, a readable table, and bench/results.json.

A bench has `run() -> list[dict]`; each row: name, value, unit, baseline, ratio, target, ok (baseline, ratio and target may be None).
python -m tests.bench.run [NAME ...]   only the benches named (http, start, ...); --strict exits 1 when a target is missed
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
import time
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results.json"
KEYS = {"name", "value", "unit", "baseline", "ratio", "target", "ok"}
HUNDRED = 100

Row = dict[str, Any]


def benches(only: list[str]) -> list[str]:
    """Names of the benches, without `_bench`."""
    names = sorted(path.stem.removesuffix("_bench") for path in Path(__file__).parent.glob("*_bench.py"))
    unknown = set(only) - set(names)
    if unknown:
        raise SystemExit(f"no such bench: {', '.join(sorted(unknown))} (there are {', '.join(names)})")
    return [name for name in names if not only or name in only]


def checked(rows: list[Row]) -> list[Row]:
    """The rows, if each has every key. Raises ValueError."""
    for row in rows:
        if set(row) != KEYS:
            raise ValueError(f"row {row.get('name')!r} must have exactly {sorted(KEYS)}")
    return rows


def number(value: object) -> str:
    """For people: 3 significant digits below a hundred, whole numbers above."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return "" if value is None else str(value)
    return f"{value:,.0f}" if abs(value) >= HUNDRED else f"{value:.3g}"


def table(results: dict[str, list[Row]]) -> Table:
    """One section a bench."""
    shown = Table("bench", "measure", "value", "unit", "baseline", "ratio", "target", "", title="Handrail bench")
    for name, rows in results.items():
        for row in rows:
            sign = "" if row["ok"] is None else "[green]ok[/green]" if row["ok"] else "[red]missed[/red]"
            cells = (
                name,
                row["name"],
                number(row["value"]),
                row["unit"],
                number(row["baseline"]),
                number(row["ratio"]),
                row["target"] or "",
                sign,
            )
            shown.add_row(*cells)
        shown.add_section()
    return shown


def machine() -> dict[str, object]:
    """What the figures were measured on."""
    return {"cores": os.cpu_count(), "kernel": platform.release(), "python": platform.python_version(), "machine": platform.machine()}


def main() -> int:
    """0 when every bench ran (and, with --strict, met its targets)."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--strict", action="store_true")
    options = parser.parse_args()
    console = Console(width=160 if not sys.stdout.isatty() else None)
    results: dict[str, list[Row]] = {}
    broken: list[str] = []
    for name in benches(options.names):
        console.print(f"[bold]{name}[/bold] ...")
        begun = time.perf_counter()
        try:
            results[name] = checked(importlib.import_module(f"tests.bench.{name}_bench").run())
        except Exception:  # noqa: BLE001 - one broken bench must not hide the others; it is printed and makes the exit code 1
            broken.append(name)
            console.print(traceback.format_exc(), markup=False, highlight=False)
        console.print(f"  {time.perf_counter() - begun:.0f} s")
    console.print(table(results))
    RESULTS.parent.mkdir(exist_ok=True)
    at = datetime.now(UTC).isoformat(timespec="seconds")
    RESULTS.write_text(json.dumps({"at": at, "machine": machine(), "broken": broken, "benches": results}, indent=2) + "\n", "utf-8")
    console.print(f"written to {RESULTS.relative_to(ROOT)}")
    missed = [row["name"] for rows in results.values() for row in rows if row["ok"] is False]
    if missed:
        console.print(f"[red]targets missed:[/red] {', '.join(missed)}")
    return 1 if broken or (options.strict and missed) else 0


if __name__ == "__main__":
    sys.exit(main())
