"""Calling file tools directly: a service on temporary directories and an actor of its one workspace."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.api.context import Actor, Identity, Workspace
from handrail.api.files.service import FileService
from handrail.api.files.tools import tools
from handrail.api.tools.registry import Invocation, Registry
from handrail.contract.errors import Lang
from handrail.kit.clock import SYSTEM


@dataclass
class Calls:
    """`await calls("Read", path="x")` runs the tool without a gate in front."""

    service: FileService
    registry: Registry
    actor: Actor

    async def __call__(self, tool_name: str, **arguments: Any) -> dict[str, Any]:
        tool = self.registry.get(tool_name)
        assert tool is not None, tool_name
        args = tool.args.model_validate(arguments)
        return await tool.run(Invocation(self.actor, tool, args, arguments, None))


def actor_in(root: Path, *, extra: tuple[Path, ...] = (), user: str = "u1", lang: Lang = "en") -> Actor:
    workspace = Workspace("w1", "work", str(root), tuple(str(path) for path in extra))
    return Actor(Identity(user, "user", True, "d1", "device", "owner", workspace), lang, "r1", "127.0.0.1")


def calls_in(base: Path, *, limit: int = 50 << 20, lang: Lang = "en") -> Calls:
    """A work root at base/work and a data directory at base/data."""
    for name in ("work", "data", "home"):
        (base / name).mkdir(exist_ok=True)
    service = FileService(base / "data", file_max_size=limit, clock=SYSTEM, home=str(base / "home"))
    registry = Registry()
    registry.add(*tools(service))
    return Calls(service, registry, actor_in(base / "work", lang=lang))
