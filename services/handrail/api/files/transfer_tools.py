"""The transfer tools of the registry. None is listed: they are routes of the wire, a model has no use for them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from handrail.api.files import desktop, sheets, transferring
from handrail.api.files import transfer_arguments as a
from handrail.api.files.arguments import PathArgs
from handrail.api.files.service import FileService
from handrail.api.files.transfers import Transfers
from handrail.api.tools.registry import Arguments, Effect, Invocation, Result, Tool

SHOWN, SHOWN_PATHS = 500, 20  # characters of a path, paths of a call, in an audit row


def tools(files: FileService, transfers: Transfers) -> tuple[Tool, ...]:
    """Every transfer tool, bound to these services."""

    def tool(name: str, effect: Effect, args: type[Arguments], run: Callable[[Invocation], Awaitable[Result]], action: str) -> Tool:
        return Tool(
            name=name,
            description="",
            args=args,
            effect=effect,
            executor="files",
            category="fs",
            action=action,
            run=run,
            summary=summary,
            listed=False,
        )

    return (
        tool("Download", "read", a.DownloadArgs, lambda call: transferring.download(files, transfers, call), "download"),
        tool("Upload", "write", a.UploadArgs, lambda call: transferring.upload(files, transfers, call), "upload"),
        tool("UploadPart", "write", a.UploadPartArgs, lambda call: transferring.upload_part(files, transfers, call), "upload"),
        tool("UploadStatus", "read", a.UploadIdArgs, lambda call: transferring.upload_status(files, transfers, call), "upload_status"),
        tool("UploadDrop", "write", a.UploadIdArgs, lambda call: transferring.upload_drop(files, transfers, call), "upload_drop"),
        tool("Stage", "write", a.StageArgs, lambda call: transferring.stage(files, transfers, call), "upload"),
        tool("PreviewSheet", "read", a.PreviewArgs, lambda call: sheets.preview(files, call), "preview"),
        tool("OpenOnDesktop", "write", PathArgs, lambda call: desktop.open_file(files, call), "open"),
    )


def summary(args: Any) -> dict[str, object]:  # noqa: ANN401 - each tool has its own argument class
    """Places, sizes and hashes; these arguments hold nothing else."""
    out: dict[str, object] = {}
    for name, value in args.__dict__.items():
        if isinstance(value, str):
            if value:
                out[name] = value[:SHOWN]
        elif isinstance(value, list):
            paths = cast("list[str]", value)
            out[name] = [path[:SHOWN] for path in paths[:SHOWN_PATHS]]
            out["count"] = len(paths)
        elif value is not None:
            out[name] = value
    return out
