"""Output: data to stdout (text or JSON), everything else to stderr, in the user's language, control characters escaped."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence

from handrail.contract.errors import HandrailError, Lang
from handrail.contract.settings import system_lang

_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(9), *range(0x0B, 0x20), *range(0x7F, 0xA0))}
# bidirectional controls can make a line read differently from what it is
_DANGEROUS = _CONTROLS | {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029)}


def lang() -> Lang:
    """The language of this invocation: --lang (kept in HANDRAIL_LANG), else the system's."""
    return system_lang(os.environ)


def t(en: str, zh: str) -> str:
    """One of the two by language."""
    return zh if lang() == "zh" else en


def safe(text: object) -> str:
    """Fit for a terminal: no control character can move its cursor or colour it."""
    return str(text).translate(_DANGEROUS)


def out(text: str = "") -> None:
    """A line of data."""
    sys.stdout.write(safe(text) + "\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """A line about what happens."""
    sys.stderr.write(safe(text) + "\n")
    sys.stderr.flush()


def data(value: object) -> None:
    """JSON on stdout."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
    sys.stdout.flush()


def failure(exc: HandrailError, *, as_json: bool) -> None:
    """The error: its JSON body on stdout for --json, its sentence on stderr."""
    if as_json:
        data(exc.body(lang()))
    note(t("Error: ", "错误：") + exc.text(lang()))


def table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table as wide as the terminal; plain text without colours when stdout is no terminal."""
    from rich import box  # noqa: PLC0415 - rich costs 60 ms: only where it draws
    from rich.console import Console  # noqa: PLC0415 - as above
    from rich.table import Table  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in titles:
        shown.add_column(title, overflow="fold")
    for row in rows:
        shown.add_row(*(Text(safe(cell)) for cell in row))
    console = Console()
    if not console.is_terminal:
        console.width = 200  # a pipe has no width: do not wrap for one
    console.print(shown)
