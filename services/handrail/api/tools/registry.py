"""The one tool registry: schema, tier, metadata and executor of everything that can be asked for.

The wire's routes, `POST /api/tools/:name`, later the chat loop and the MCP endpoint are all thin over it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from handrail.api.context import Actor
from handrail.policy import Verdict

Effect = Literal["read", "write", "exec"]
Executor = Literal["files", "sandbox"]
Result = dict[str, Any]


class Arguments(BaseModel):
    """Base of every tool's arguments: strict types, unknown names refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


@dataclass(frozen=True, slots=True)
class Invocation:
    """One permitted call, as the executor sees it."""

    actor: Actor
    tool: Tool
    args: Any  # the tool's own Arguments subclass, validated
    arguments: Mapping[str, Any]  # the JSON that was hashed into the token ({} for a read in this process)
    token: str | None  # None for a read in this process; low tier for a read elsewhere; else high tier, single use
    deadline_ms: int | None = None
    body: AsyncIterator[bytes] | None = None  # what an upload sends; its size and hash are bound, it is not


Permit = Callable[[str, Mapping[str, Any]], str]  # tool name, arguments -> low-tier token for a look


Run = Callable[[Invocation], Awaitable[Result]]


def _nothing(_args: Any) -> dict[str, object]:  # noqa: ANN401 - each tool has its own argument class
    return {}


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: what it is called, what it takes, how dangerous it is, who runs it.

    `summary` turns arguments into what audit rows and approval cards show (paths, sizes; never file content).
    `bind` gives what the executor gets when that is more than the client sent (resolved paths, the workspace's roots); the
    token and the approval bind exactly that.
    `before` and `action` name the audit rows before the effect and after it. `later`: for a call that goes on after its answer,
    an awaitable that ends when it does and gives what came of it; None when nothing goes on.
    `touches`: the files that a changing file tool is about to write, when that is not simply its `path`; their content is kept for undo.
    `judge` is the policy for the arguments; None means that the tool needs no verdict (its executor confines it).
    """

    name: str
    description: str
    args: type[Arguments]
    effect: Effect
    executor: Executor
    category: Literal["fs", "exec"]
    action: str
    run: Run
    before: str = "minted"
    later: Callable[[Invocation, Result, Permit], Awaitable[Result] | None] | None = None
    summary: Callable[[Any], dict[str, object]] = _nothing
    bind: Callable[[Actor, Any], Mapping[str, Any]] | None = None
    judge: Callable[[Actor, Any], Verdict] | None = None
    touches: Callable[[Any], Sequence[str]] | None = None
    listed: bool = True  # shown by GET /api/tools and callable by name
    title: dict[str, str] = field(default_factory=dict[str, str])  # {"en": ..., "zh": ...}


class Registry:
    """Tools by name."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}

    def add(self, *tools: Tool) -> None:
        """Register; a second tool of the same name is a programming error (ValueError)."""
        for tool in tools:
            if tool.name in self._tools:
                raise ValueError(f"tool {tool.name} is registered twice")
            self._tools[tool.name] = tool

    def get(self, name: str) -> Tool | None:
        """The tool, listed or not."""
        return self._tools.get(name)

    def all(self) -> tuple[Tool, ...]:
        """Every tool in order of registration."""
        return tuple(self._tools.values())

    def listed(self) -> tuple[Tool, ...]:
        """The tools that clients may call by name."""
        return tuple(tool for tool in self._tools.values() if tool.listed)
