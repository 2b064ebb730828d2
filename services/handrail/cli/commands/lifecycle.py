"""start, stop, restart, status."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import typer

from handrail.cli import client, say, starting, stopping
from handrail.cli.options import Given, decide, remembered
from handrail.cli.options import data_dir as data_dir_of
from handrail.cli.say import t
from handrail.cli.settings import CliSettings
from handrail.cli.types import AsJson, Background, Data, Host, Port, Workdir

EXIT_FALLBACK = 10  # stop: the service did not stop when asked, its processes were ended by signal


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("start", help=t("Start; Ctrl-C stops everything.", "启动；按 Ctrl-C 停止全部服务。"))(start)
    app.command("stop", help=t("Stop the running instance.", "停止正在运行的实例。"))(stop)
    app.command("restart", help=t("Stop and start again with the same options.", "停止并以相同选项重新启动。"))(restart)
    app.command("status", help=t("Show what runs.", "显示运行状态。"))(status)


def start(
    background: Background = False,
    host: Host = None,
    port: Port = None,
    workdir: Workdir = None,
    data: Data = None,
) -> None:
    """Start the embedded form."""
    raise typer.Exit(starting.start(Given(data, host, port, workdir), background=background))


def stop(data: Data = None) -> None:
    """0 when it stopped by itself, 10 when it had to be ended by signals, 5 when it does not run."""
    clean = stopping.stop(data_dir_of(data, CliSettings.load()))
    say.note(t("Handrail has stopped.", "Handrail 已停止。"))
    raise typer.Exit(0 if clean else EXIT_FALLBACK)


def restart(background: Background = False, data: Data = None) -> None:
    """Keeps host, port, work root and language of the last start."""
    settings = CliSettings.load()
    folder = data_dir_of(data, settings)
    given = remembered(folder)
    decide(given, settings, Path.cwd())  # a broken configuration is told before anything is stopped
    stopping.stop_if_running(folder)
    raise typer.Exit(starting.start(given, background=background))


def status(as_json: AsJson = False, data: Data = None) -> None:
    """Version, address, work root, parts, memory."""
    answer = client.admin(data).get("/admin/status")
    if as_json:
        say.data(answer)
        return
    labels = {
        "version": t("version", "版本"),
        "address": t("address", "地址"),
        "workdir": t("work root", "工作根目录"),
        "dataDir": t("data directory", "数据目录"),
        "uptimeSeconds": t("up for (s)", "已运行（秒）"),
        "pid": t("process", "进程"),
    }
    rows: list[tuple[str, object]] = [(label, answer.get(key, "")) for key, label in labels.items()]
    rows += sorted(cast("dict[str, object]", answer.get("services", {})).items())
    tools = cast("dict[str, object]", answer.get("searchTools", {}))
    rows += [(name, t("available", "可用") if there else t("not installed", "未安装")) for name, there in tools.items()]
    say.table((t("what", "项目"), t("value", "值")), rows)
