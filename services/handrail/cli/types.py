"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from handrail.cli.say import t

ROLES = "owner | member | viewer | auditor"

Data = Annotated[
    str | None,
    typer.Option("--data", metavar="DIR", help=t("Data directory (HANDRAIL_DATA_DIR).", "数据目录（HANDRAIL_DATA_DIR）。")),
]
AsJson = Annotated[bool, typer.Option("--json", help=t("Print JSON.", "以 JSON 输出。"))]
Background = Annotated[
    bool, typer.Option("--background", "-b", help=t("Run in the background; returns when ready.", "后台运行；就绪后返回。"))
]
Host = Annotated[str | None, typer.Option("--host", help=t("Address to listen on (127.0.0.1).", "监听地址（127.0.0.1）。"))]
Port = Annotated[int | None, typer.Option("--port", min=1, max=65535, help=t("Port to listen on (18910).", "监听端口（18910）。"))]
Workdir = Annotated[
    str | None,
    typer.Option("--workdir", metavar="DIR", help=t("Work root (the current directory).", "工作根目录（默认当前目录）。")),
]
