"""`make demo`: tell the story against the embedded form (started for it) or against a running Handrail.

python -m tests.demo.run                              start one on a free port with a temporary data directory
python -m tests.demo.run --url URL --code 123456      use a running one
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Generator
from typing import Any

import httpx
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tests.demo.client import Client, WireError
from tests.demo.embedded import running_handrail
from tests.demo.story import STEPS, StepFailed, Tale

AUDIT_ROWS = 16
FIXED_COLUMNS = 50  # characters of the table that are not details
SHOWN = ("tool", "command", "path", "pattern", "exitCode", "exit_code", "status", "reason", "results", "size", "trashId")


def tell(url: str, code: str, console: Console) -> bool:
    """Every step in order, each printed; False at the first that fails."""
    with Client(url) as client:
        tale = Tale(client, code, lambda text: console.print(f"    {escape(text)}", highlight=False, soft_wrap=True))
        for number, (title, step) in enumerate(STEPS, 1):
            console.print(f"[bold]{number:2}. {title}[/bold]")
            begun = time.perf_counter()
            try:
                step(tale)
            except (StepFailed, WireError, httpx.HTTPError, OSError, KeyError, TimeoutError) as exc:
                console.print(f"    [red]failed:[/red] {escape(repr(exc))}", highlight=False, soft_wrap=True)
                return False
            console.print(f"    [green]ok[/green] {1000 * (time.perf_counter() - begun):.0f} ms")
        show_audit(tale, console)
    console.print(f"[green bold]All {len(STEPS)} steps passed.[/green bold]")
    return True


def show_audit(tale: Tale, console: Console) -> None:
    """The newest rows, oldest of them first; paths as seen from the repository."""
    table = Table(title="Audit trail")
    for title in ("time", "level", "event"):
        table.add_column(title, no_wrap=True)
    table.add_column("details", no_wrap=True, overflow="ellipsis", max_width=max(30, console.width - FIXED_COLUMNS))
    rows: list[dict[str, Any]] = tale.facts["audit"]
    for row in reversed(rows[:AUDIT_ROWS]):
        details = " ".join(f"{name}={row[name]}" for name in SHOWN if row.get(name) not in ("", None))
        event = f"{row['category']}:{row['action']}"
        table.add_row(row["timestamp"][11:19], row["level"], event, escape(details.replace(f"{tale.root}/", "").replace(tale.root, ".")))
    console.print(table)


@contextlib.contextmanager
def handrail(url: str | None, code: str | None, console: Console) -> Generator[tuple[str, str]]:
    """(address, pairing code) of the one that is used."""
    if url and code:
        yield url, code
        return
    console.print("Starting the embedded form with a temporary data directory ...")
    with running_handrail() as running:
        yield running.url, running.paircode()


def main() -> int:
    """0 when every step did what the story says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", help="address of a running Handrail, e.g. http://127.0.0.1:18910")
    parser.add_argument("--code", help="its pairing code (`handrail paircode`)")
    options = parser.parse_args()
    if bool(options.url) != bool(options.code):
        parser.error("--url and --code go together")
    console = Console()
    with handrail(options.url, options.code, console) as (url, code):
        return 0 if tell(url, code, console) else 1


if __name__ == "__main__":
    sys.exit(main())
