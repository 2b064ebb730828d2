"""logs: the audit lines of the day files, or the log of a service; both also when nothing runs."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from handrail.cli import say
from handrail.cli.options import data_dir
from handrail.cli.say import t
from handrail.cli.settings import CliSettings
from handrail.cli.types import AsJson, Data
from handrail.kit.canonical import StrictJsonError, loads

CHUNK = 65536
POLL_S = 0.25
SERVICES = ("supervisor", "api", "sandbox", "worker", "beat", "init", "postgres", "valkey")
HIDDEN = frozenset({"timestamp", "level", "category", "action", "id"})

Lines = Annotated[int, typer.Option("--lines", "-n", min=0, max=100_000, help=t("How many of the last lines.", "显示最后多少行。"))]
Follow = Annotated[bool, typer.Option("--follow", "-f", help=t("Go on with new lines.", "持续显示新行。"))]
Category = Annotated[str | None, typer.Option("--category", help="auth | fs | exec | security | system")]
Level = Annotated[str | None, typer.Option("--level", help="info | warn | error")]
Grep = Annotated[str | None, typer.Option("--grep", metavar="TEXT", help=t("Only lines with this text.", "仅显示包含此文本的行。"))]
Service = Annotated[str | None, typer.Option("--service", metavar="NAME", help=" | ".join(SERVICES))]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("logs", help=t("Show the audit log, or a service's log with --service.", "显示审计日志；用 --service 显示服务日志。"))(logs)


def logs(
    lines: Lines = 50,
    follow: Follow = False,
    category: Category = None,
    level: Level = None,
    grep: Grep = None,
    service: Service = None,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """The last lines that pass the filters, oldest first."""
    folder = data_dir(data, CliSettings.load()) / "logs"
    if service is not None and service not in SERVICES:
        raise typer.BadParameter(" | ".join(SERVICES), param_hint="--service")
    newest = _files(folder, service)
    show = _shower(category, level, grep, as_json=as_json, plain=service is not None)
    kept: deque[str] = deque(maxlen=lines)
    for path in newest:
        kept.extend(text for line in _lines(path) if (text := show(line)) is not None)
    for text in kept:
        say.out(text)
    while follow:
        time.sleep(POLL_S)
        for text in _more(folder, service, newest, show):
            say.out(text)


def _files(folder: Path, service: str | None) -> dict[Path, int]:
    """Path -> bytes read so far, oldest first."""
    names = [folder / f"{service}.log"] if service else sorted(folder.glob("agent-*.log*"))
    return {path: path.stat().st_size for path in names if path.exists()}


def _more(folder: Path, service: str | None, known: dict[Path, int], show: Callable[[str], str | None]) -> Iterator[str]:
    for path, size in _files(folder, service).items():
        begin = known.get(path, 0)
        if size == begin:
            continue
        known[path] = size
        for line in _lines(path, begin if size > begin else 0):
            text = show(line)
            if text is not None:
                yield text


def _lines(path: Path, begin: int = 0) -> Iterator[str]:
    with path.open("rb") as file:
        file.seek(begin)
        for line in file:
            yield line.decode("utf-8", "replace").rstrip("\n")


def _shower(category: str | None, level: str | None, grep: str | None, *, as_json: bool, plain: bool) -> Callable[[str], str | None]:
    def show(line: str) -> str | None:
        if grep is not None and grep not in line:
            return None
        if plain:
            return line
        entry = _entry(line)
        if entry is None or (category and entry.get("category") != category) or (level and entry.get("level") != level):
            return None
        return line if as_json else _human(entry)

    return show


def _entry(line: str) -> dict[str, Any] | None:
    try:
        value = loads(line)
    except StrictJsonError:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _human(entry: dict[str, Any]) -> str:
    """The seed's form: `2026-01-01 12:30:01 [INFO] [fs:read] path=...`."""
    details = " ".join(f"{name}={value}" for name, value in entry.items() if name not in HIDDEN and value not in ("", None))
    stamp = str(entry.get("timestamp", ""))[:19].replace("T", " ")
    return f"{stamp} [{str(entry.get('level', '')).upper()}] [{entry.get('category', '')}:{entry.get('action', '')}] {details}"
