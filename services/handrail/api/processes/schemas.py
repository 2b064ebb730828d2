"""Bodies and answers of the command routes, and the arguments of the process tools."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from handrail.api.http import WireBody
from handrail.api.tools.registry import Arguments
from handrail.contract.sandbox import MAX_COMMAND, MAX_TIMEOUT_MS, MIN_TIMEOUT_MS

# characters; the sandbox counts bytes against the same number
CommandText = Annotated[str, StringConstraints(min_length=1, max_length=MAX_COMMAND, pattern=r"^[^\x00]*$")]
Directory = Annotated[str, StringConstraints(max_length=4096, pattern=r"^[^\x00]*$")]
ExecId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}\Z")]
TimeoutMs = Annotated[int, Field(ge=MIN_TIMEOUT_MS, le=MAX_TIMEOUT_MS)]


class BashArgs(Arguments):
    """Arguments of Bash."""

    command: CommandText = Field(description="The command line, for `bash --noprofile --norc -c`.")
    cwd: Directory | None = Field(
        default=None, description="Working directory: absolute, or relative to the work root. Default: the work root."
    )
    timeout_ms: TimeoutMs | None = Field(default=None, description="The whole tree is killed after so many milliseconds.")
    wait: bool = Field(default=True, description="Answer when the command has ended. false: answer at once with its execId.")


class ProcessArgs(Arguments):
    """Arguments of ProcessStop."""

    exec_id: str = Field(max_length=64)


class ReadArgs(Arguments):
    """Arguments of ProcessRead. `attach` only asks for the permission to read, for a stream."""

    exec_id: str = Field(max_length=64)
    cursor: int = Field(default=0, ge=0)
    wait_ms: int = Field(default=0, ge=0, le=30_000)
    attach: bool = False


class NoArgs(Arguments):
    """Arguments of ProcessList."""


class ExecBody(WireBody):
    """Body of POST /api/exec."""

    command: CommandText
    cwd: Directory | None = None
    wait: bool = False
    force: bool = False
    timeoutMs: TimeoutMs | None = None  # noqa: N815 - the wire's spelling


class StopBody(WireBody):
    """Body of POST /api/exec/stop."""

    execId: str = Field(max_length=64)  # noqa: N815


class ExecAnswer(BaseModel, extra="allow"):
    """Answer of POST /api/exec: with `level` confirm nothing was run, repeat with `force` after the user has agreed."""

    success: Literal[True]
    level: Literal["allow", "confirm"]
    execId: str | None = None  # noqa: N815
    wsUrl: str | None = None  # noqa: N815
    exitCode: int | None = None  # noqa: N815
    stdout: str | None = None
    stderr: str | None = None
    killed: bool | None = None
    reason: str | None = None
    command: str | None = None


class StopAnswer(BaseModel, extra="allow"):
    """Answer of POST /api/exec/stop."""

    success: bool
    execId: str  # noqa: N815


class RunningAnswer(BaseModel):
    """Answer of GET /api/exec/running."""

    success: Literal[True]
    processes: list[dict[str, object]]
