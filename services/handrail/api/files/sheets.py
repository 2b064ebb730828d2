"""Spreadsheet previews: parsed in a child process that holds the file's descriptor and nothing else."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import cast

from handrail.api.files.service import FileService
from handrail.api.files.transfer_arguments import PreviewArgs
from handrail.api.files.transfer_errors import NotASpreadsheet, SheetRefused
from handrail.api.tools.registry import Invocation, Result
from handrail.jail import spawn
from handrail.kit.canonical import StrictJsonError, loads
from handrail.kit.errors import TooLarge

NOT_A_SHEET, REFUSED = 3, 4  # the child's exit codes
SECONDS = 30.0
ANSWER = 32 << 20  # bytes of JSON
AT_ONCE = 2  # each may take as much memory as the child allows itself
_slots = asyncio.Semaphore(AT_ONCE)


async def preview(files: FileService, call: Invocation) -> Result:
    """Sheets as rows of text. Raises NotASpreadsheet (415), SheetRefused (413), TooLarge, FileMissing, ..."""
    args = cast("PreviewArgs", call.args)
    scope = files.scope(call.actor)
    location = scope.locate(args.path)
    async with _slots:
        fd, info = await files.run(lambda: scope.open_file(location))
        try:
            if info.st_size > files.file_max_size:
                raise TooLarge(location.path, size=info.st_size, limit=files.file_max_size)
            argv = [sys.executable, "-P", "-m", "handrail.api.files.sheet_child", str(fd), str(args.max_rows)]
            done = await spawn.run_async(argv, timeout_s=SECONDS, max_output=ANSWER, pass_fds=[fd])
        finally:
            os.close(fd)
    if done.code == NOT_A_SHEET:
        raise NotASpreadsheet(path=location.path)
    if done.code != 0 or done.truncated or done.timed_out:
        reason = done.stdout.decode("ascii", "replace") if done.code == REFUSED else "time" if done.timed_out else "size"
        raise SheetRefused(path=location.path, reason=reason)
    try:
        return {"success": True, "data": loads(done.stdout)}
    except StrictJsonError as exc:
        raise NotASpreadsheet(path=location.path) from exc
