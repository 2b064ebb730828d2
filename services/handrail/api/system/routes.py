"""Status, life cycle and configuration routes of the wire."""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import PlainTextResponse

from handrail import __version__
from handrail.api.audit.events import AuditEvent
from handrail.api.context import Actor
from handrail.api.http import ACTOR, JsonAnswer, Router, actor_of, services_of
from handrail.api.lifecycle import EXIT_RESTART, EXIT_STOP
from handrail.api.services import Services
from handrail.api.system import workdir
from handrail.api.system.errors import AdminOnly, LocalOnly, OwnerOnly
from handrail.api.system.platform_facts import host_facts, search_tools, static_facts, usage
from handrail.api.system.schemas import (
    AllowedPathsAnswer,
    DetailAnswer,
    HeartbeatAnswer,
    MessageAnswer,
    PathBody,
    RootsAnswer,
    StatusAnswer,
    UpdateAnswer,
    WorkdirAnswer,
    WorkdirBody,
)
from handrail.contract.errors import Lang
from handrail.kit.roots import Root

router = Router(tags=["system"])

TEXTS: dict[str, dict[Lang, str]] = {
    "shutdown": {"en": "The service is shutting down.", "zh": "服务正在关闭。"},
    "restart": {"en": "The service is restarting.", "zh": "服务正在重启。"},
    "workdir": {"en": "The work directory was changed.", "zh": "工作目录已更改。"},
    "removed": {"en": "The directory is no longer allowed.", "zh": "已移除该允许目录。"},
    "update": {
        "en": "Handrail never downloads code by itself. Update it where it runs:",
        "zh": "Handrail 不会自行下载代码。请在其运行环境中更新：",
    },
}
UPDATE_STEPS = {
    "compose": ["git pull", "docker compose build --pull", "docker compose up -d --wait"],
    "embedded": ["git pull", "make run"],
}


@router.get("/api/status", response_model=StatusAnswer)
async def status(request: Request) -> dict[str, object]:
    """Version, platform and search tools. Public, and free of secrets."""
    return {
        "success": True,
        "version": __version__,
        "running": True,
        **static_facts(),
        "searchTools": search_tools(),
        "ragAvailable": False,
    }


@router.get("/api/status/detail", response_model=DetailAnswer)
async def status_detail(request: Request) -> dict[str, object]:
    """Where the device works, its limits and what runs. Never a pairing code."""
    services, actor = services_of(request), actor_of(request)
    settings = services.settings
    return {
        "success": True,
        "version": __version__,
        "pairCodeTTL": settings.pair_code_ttl,
        "workdir": actor.workspace.root,
        "allowedPaths": list(actor.workspace.allowed_paths),
        "commandTimeout": settings.command_timeout,
        "fileMaxSize": settings.file_max_size,
        "uploadMaxSize": settings.upload_max_size,
        "runningProcesses": await services.processes.running(actor),
        "resourceUsage": usage(services.clock.monotonic() - services.started),
        **static_facts(),
        **host_facts(),
        "searchTools": search_tools(),
        "user": actor.identity.user_name,
        "role": actor.identity.role,
        "workspace": actor.workspace.name,
        "services": await services.health.parts(),
    }


@router.get("/api/heartbeat", response_model=HeartbeatAnswer)
async def heartbeat(request: Request) -> dict[str, object]:
    """The server's time in ms."""
    return {"success": True, "time": int(services_of(request).clock.now() * 1000)}


@router.post("/api/shutdown", response_model=MessageAnswer)
async def shutdown(request: Request) -> dict[str, object]:
    """Stop the service: free for a loopback peer that is not a web page or extension, else an administrator's token."""
    services = services_of(request)
    actor: Actor | None = request.scope.get(ACTOR)
    if actor is None and (request.headers.get("origin") or not _is_loopback(request)):
        raise LocalOnly
    if actor is not None:
        _admin(actor)
    services.lifecycle.request(EXIT_STOP)
    await _record(services, actor, "shutdown", request)
    return {"success": True, "message": _text("shutdown", actor)}


@router.post("/api/agent/restart", response_model=MessageAnswer)
async def restart(request: Request) -> dict[str, object]:
    """Drain and start again with the same options. Administrators only."""
    services, actor = services_of(request), actor_of(request)
    _admin(actor)
    services.lifecycle.request(EXIT_RESTART)
    await _record(services, actor, "restart", request)
    return {"success": True, "message": _text("restart", actor)}


@router.post("/api/agent/update", response_model=UpdateAnswer)
async def update(request: Request) -> dict[str, object]:
    """How to update. Nothing is downloaded by the service itself."""
    services, actor = services_of(request), actor_of(request)
    _admin(actor)
    steps = UPDATE_STEPS[services.settings.form]
    return {"success": False, "error": _text("update", actor) + " " + " && ".join(steps), "current": __version__, "howTo": steps}


@router.post("/api/config/workdir", response_model=WorkdirAnswer)
async def config_workdir(request: Request, body: WorkdirBody) -> dict[str, object]:
    """Move the workspace to another directory; `/`, home and system directories are refused."""
    services, actor = services_of(request), _owner(actor_of(request))
    workspace = await workdir.change(services, actor, body.workdir)
    return {"success": True, "workdir": workspace.root, "allowedPaths": list(workspace.allowed_paths), "message": _text("workdir", actor)}


@router.post("/api/config/allowed-paths/remove", response_model=AllowedPathsAnswer)
async def remove_allowed_path(request: Request, body: PathBody) -> dict[str, object]:
    """Take a directory off the allowed list; the work root itself cannot be removed."""
    services, actor = services_of(request), _owner(actor_of(request))
    workspace = await workdir.remove_allowed(services, actor, body.path)
    return {"success": True, "allowedPaths": list(workspace.allowed_paths), "message": _text("removed", actor)}


@router.get("/api/roots", response_model=RootsAnswer)
async def roots(request: Request) -> dict[str, object]:
    """The allowed directories, and whether each still is the one that was opened; else it is closed until an owner confirms it."""
    services, actor = services_of(request), actor_of(request)
    known = await services.files.run(lambda: services.files.roots(actor))
    return {"success": True, "roots": [_root(path, root, actor) for path, root in known]}


@router.post("/api/roots/confirm", response_model=RootsAnswer)
async def confirm_root(request: Request, body: PathBody) -> dict[str, object]:
    """What lies at this allowed path now is meant: the re-authorisation after a directory was replaced or mounted anew. Owners only."""
    services, actor = services_of(request), _owner(actor_of(request))
    await workdir.confirm(services, actor, body.path)
    return await roots(request)


def _root(path: str, root: Root | None, actor: Actor) -> dict[str, object]:
    kind = "work" if path == actor.workspace.root else "extra"
    if root is None:
        return {"path": path, "kind": kind, "state": "missing"}
    return {"path": path, "kind": kind, "state": root.state(), "device": root.dev, "inode": root.ino, "mount": root.mount}


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> JsonAnswer:
    """Prometheus text format."""
    from prometheus_client import CONTENT_TYPE_LATEST, generate_latest  # noqa: PLC0415 - only scrapers need it

    answer = JsonAnswer({})
    answer.body = generate_latest(services_of(request).metrics.registry)
    answer.headers["content-type"] = CONTENT_TYPE_LATEST
    answer.headers["content-length"] = str(len(answer.body))
    return answer


def _admin(actor: Actor) -> Actor:
    if not actor.identity.is_admin:
        raise AdminOnly
    return actor


def _owner(actor: Actor) -> Actor:
    if actor.identity.role != "owner":
        raise OwnerOnly
    return actor


def _text(name: str, actor: Actor | None) -> str:
    return TEXTS[name][actor.lang if actor else "en"]


def _is_loopback(request: Request) -> bool:
    """By the address of the socket, never by a header."""
    host = request.client.host if request.client else ""
    return host == "::1" or host.startswith("127.")


async def _record(services: Services, actor: Actor | None, action: str, request: Request) -> None:
    await services.audit.effect(
        AuditEvent(
            category="system",
            action=action,
            level="info",
            user_id=actor.user_id if actor else None,
            device_id=actor.identity.device_id if actor else None,
            workspace_id=actor.workspace.id if actor else None,
            peer=request.client.host if request.client else "local",
            request_id=actor.request_id if actor else "",
            details={},
        )
    )
