"""The HTTP applications: the public one behind the edge, and the admin one on the local socket."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

import structlog
from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from handrail import __version__
from handrail.api.accounts.admin_routes import router as accounts_admin
from handrail.api.accounts.routes import router as accounts
from handrail.api.audit.routes import router as audit
from handrail.api.context import Actor
from handrail.api.files.routes import router as files
from handrail.api.files.transfer_routes import router as transfers
from handrail.api.gate.policy_routes import admin as policy_admin
from handrail.api.gate.policy_routes import router as policy
from handrail.api.http import ACTOR, SERVICES, FastRoute, Handler, JsonAnswer, describe
from handrail.api.page import router as page
from handrail.api.processes.routes import router as processes
from handrail.api.services import Services
from handrail.api.system.admin_routes import router as system_admin
from handrail.api.system.health_routes import router as health
from handrail.api.system.routes import router as system
from handrail.api.tools.routes import router as tools
from handrail.api.undo.routes import router as undo
from handrail.contract.errors import HandrailError, InvalidRequest, Lang, MalformedJson, MethodNotAllowed, UnknownPath
from handrail.contract.lang import negotiate

log = structlog.get_logger("handrail.api")
PUBLIC: tuple[APIRouter, ...] = (files, transfers, undo, processes, tools, policy, accounts, audit, system, health, page)
ADMIN: tuple[APIRouter, ...] = (accounts_admin, policy_admin, system_admin, health)


def public_app() -> FastAPI:
    """The routes of the wire with their OpenAPI document. Needs no services: `Edge` brings them in the scope."""
    return _app("Handrail", PUBLIC)


def admin_app(services: Services) -> ASGIApp:
    """The admin routes for the local socket; its 0600 mode is the credential."""
    app = _app("Handrail admin", ADMIN)

    async def with_services(scope: Scope, receive: Receive, send: Send) -> None:
        scope[SERVICES] = services
        await app(scope, receive, send)

    return with_services


def fast_table(routers: Iterable[APIRouter] = PUBLIC) -> dict[tuple[str, str], Handler]:
    """(method, path) -> handler of every route with a fixed path and a plain signature."""
    table: dict[tuple[str, str], Handler] = {}
    for route in _routes(routers):
        if isinstance(route, FastRoute) and route.fast_handler is not None and "{" not in route.path:
            table.update({(method, route.path): route.fast_handler for method in route.methods or ()})
    return table


def methods_table(routers: Iterable[APIRouter] = PUBLIC) -> dict[str, str]:
    """Fixed path -> the methods it has, for 405 and for metrics labels."""
    table: dict[str, set[str]] = {}
    for route in _routes(routers):
        if isinstance(route, APIRoute) and "{" not in route.path:
            table.setdefault(route.path, set()).update(route.methods or ())
    return {path: ", ".join(sorted(methods)) for path, methods in table.items()}


def _routes(routers: Iterable[APIRouter]) -> Iterator[BaseRoute]:
    for router in routers:
        yield from router.routes


def _app(title: str, routers: tuple[APIRouter, ...]) -> FastAPI:
    app = FastAPI(title=title, version=__version__, docs_url=None, redoc_url=None, redirect_slashes=False)
    for router in routers:
        app.include_router(router)
    app.add_exception_handler(HandrailError, _known)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unknown)
    return app


def _lang(request: Request) -> Lang:
    actor = cast("Actor | None", request.scope.get(ACTOR))
    return actor.lang if actor else negotiate(request.headers.get("accept-language", ""))


def _render(request: Request, exc: HandrailError) -> Response:
    actor = cast("Actor | None", request.scope.get(ACTOR))
    body = exc.body(_lang(request), actor.request_id if actor else "")
    return JsonAnswer(body, status_code=exc.status, headers=exc.headers)


async def _known(request: Request, exc: Exception) -> Response:
    return _render(request, cast("HandrailError", exc))


async def _invalid(request: Request, exc: Exception) -> Response:
    problems = cast("RequestValidationError", exc).errors()
    if any(problem["type"] == "json_invalid" for problem in problems):
        return _render(request, MalformedJson(detail="not JSON"))
    shown = "; ".join(f"{'.'.join(str(p)[:64] for p in problem['loc'])}: {problem['msg']}" for problem in problems[:3])
    return _render(request, InvalidRequest(detail=shown))


async def _http(request: Request, exc: Exception) -> Response:
    failure = cast("HTTPException", exc)
    # FastAPI wraps whatever fails while the body is read; a refusal of ours inside it is the real answer
    if isinstance(failure.__cause__, HandrailError):
        return _render(request, failure.__cause__)
    if failure.status_code == 404:  # noqa: PLR2004 - HTTP
        return _render(request, UnknownPath())
    if failure.status_code == 405:  # noqa: PLR2004 - HTTP
        allowed = (failure.headers or {}).get("Allow", "")
        return _render(request, MethodNotAllowed(allowed=allowed, headers={"Allow": allowed}))
    return _render(request, InvalidRequest(detail=str(failure.detail)))


async def _unknown(request: Request, exc: Exception) -> Response:
    if isinstance(exc, ValidationError):
        return _render(request, InvalidRequest(detail=describe(exc)))
    log.error("request failed", path=request.url.path, exc_info=exc)
    return _render(request, HandrailError())
