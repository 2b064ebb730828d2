"""The protocol between the api and the sandbox service: JSON bodies over HTTP on a Unix socket, a token in each.

A call carries its capability token and the arguments that the token's hash binds:
`POST /run`     tool Bash,         tier high, arguments = RunArguments, single use
`POST /stop`    tool ProcessStop,  tier high (single use) or low, arguments = {"exec_id"}
`POST /output`  tool ProcessRead,  tier low, arguments = {"exec_id"}; cursor and wait are not bound
`POST /ended`   tool ProcessRead,  tier low, arguments = {"exec_id"}; waits for the end, answers without output
`POST /list`    tool ProcessList,  tier low, arguments = {}
`GET /healthz`  needs no token and tells nothing about commands.
"""

from __future__ import annotations

from typing import Literal, TypedDict

AUDIENCE = "sandbox"
TOOL_RUN, TOOL_STOP, TOOL_READ, TOOL_LIST = "Bash", "ProcessStop", "ProcessRead", "ProcessList"
PATH_RUN, PATH_STOP, PATH_READ, PATH_ENDED, PATH_LIST, PATH_HEALTH = "/run", "/stop", "/output", "/ended", "/list", "/healthz"

MAX_COMMAND = 65536  # bytes of UTF-8
MAX_BODY = 1024 * 1024  # bytes of one request
MAX_PAGE = 65536  # bytes of output in one page
MAX_WAIT_MS = 30_000  # one long poll
MIN_TIMEOUT_MS, MAX_TIMEOUT_MS = 1000, 86_400_000
WAIT_OUTPUT = 5_000_000  # bytes a stream in the answer of a run that was waited for
STDOUT, STDERR = 0, 1

State = Literal["running", "completed", "failed", "cancelled", "timed_out", "lost"]


class RunArguments(TypedDict):
    """What a Bash token binds. Paths are absolute and real; the roots are the workspace's, set by the api, never by a client."""

    command: str
    cwd: str
    root: str
    extra_roots: list[str]
    timeout_ms: int
    wait: bool


class Outcome(TypedDict):
    """A session as every answer shows it. `exit_code` is None while it runs, -1 after a signal."""

    exec_id: str
    state: State
    exit_code: int | None
    signal: str  # SIGKILL, ... or ""
    error: str  # why it could not be started, or ""
    killed: bool  # by stop, time-out or the end of the service
    timed_out: bool
    truncated: bool  # output was dropped from the ring or cut from this answer
    duration_ms: float
    timeout_ms: int
    total: int  # bytes of output so far
    mechanism: str
    record_id: str


class RunAnswer(Outcome):
    """Answer of /run. `stdout` and `stderr` are empty unless it was waited for."""

    stdout: str
    stderr: str
    stdout_truncated: bool
    stderr_truncated: bool


class OutputAnswer(Outcome):
    """Answer of /output: a page. `pieces` are [stream, text] in order; read on at `next`."""

    start: int
    next: int
    has_more: bool
    output_truncated: bool  # the ring has dropped what was asked for: the page starts later
    pieces: list[tuple[int, str]]


class ProcessRow(TypedDict):
    """One line of /list. `command` has its secrets masked; times are ms since the epoch."""

    exec_id: str
    pid: int
    command: str
    cwd: str
    state: State
    start_time: int
    duration_ms: float
    timeout_ms: int


class HealthAnswer(TypedDict):
    """Answer of /healthz."""

    status: Literal["ok"]
    mechanism: str
    landlock_abi: int
    network: bool
    policy_version: str
    running: int
