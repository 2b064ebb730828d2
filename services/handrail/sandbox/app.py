"""The HTTP face of the sandbox: Starlette on a Unix socket."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

import orjson
import structlog
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from handrail.contract import sandbox as wire
from handrail.contract.errors import BodyTooLarge, HandrailError, MalformedJson
from handrail.kit.canonical import StrictJsonError, loads
from handrail.sandbox.errors import BadCall
from handrail.sandbox.service import Sandbox

log = structlog.get_logger("handrail.sandbox")
Body = dict[str, Any]
Handler = Callable[[Body], Awaitable[object]]


def create_app(sandbox: Sandbox) -> Starlette:
    """The application over one sandbox."""

    async def run(body: Body) -> object:
        return await sandbox.run(_token(body), _arguments(body))

    async def output(body: Body) -> object:
        return await sandbox.output(_token(body), _arguments(body), _number(body, "cursor"), _number(body, "wait_ms"))

    async def ended(body: Body) -> object:
        return await sandbox.ended(_token(body), _arguments(body), _number(body, "wait_ms"))

    async def stop(body: Body) -> object:
        return await sandbox.stop(_token(body), _arguments(body))

    async def processes(body: Body) -> object:
        return {"processes": sandbox.list(_token(body), _arguments(body))}

    async def health(_request: Request) -> Response:
        return _json(200, sandbox.health())

    return Starlette(
        routes=[
            Route(wire.PATH_RUN, _endpoint(run), methods=["POST"]),
            Route(wire.PATH_READ, _endpoint(output), methods=["POST"]),
            Route(wire.PATH_ENDED, _endpoint(ended), methods=["POST"]),
            Route(wire.PATH_STOP, _endpoint(stop), methods=["POST"]),
            Route(wire.PATH_LIST, _endpoint(processes), methods=["POST"]),
            Route(wire.PATH_HEALTH, health, methods=["GET"]),
        ]
    )


def _endpoint(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            return _json(200, await handler(await _body(request)))
        except HandrailError as exc:
            return _refusal(exc)
        except Exception:
            # the process edge: the trace goes to the log, never to the caller; nothing was run that was not recorded
            log.exception("call failed", path=request.url.path)
            return _refusal(HandrailError())

    return endpoint


async def _body(request: Request) -> Body:
    raw = bytearray()
    async for part in request.stream():
        raw += part
        if len(raw) > wire.MAX_BODY:
            raise BodyTooLarge(limit=wire.MAX_BODY)
    try:
        body = loads(bytes(raw))
    except StrictJsonError as exc:
        raise MalformedJson(detail=str(exc)) from exc
    if not isinstance(body, dict):
        raise BadCall(detail="the body must be an object")
    return cast("Body", body)


def _token(body: Body) -> str:
    token = body.get("token")
    if not isinstance(token, str):
        raise BadCall(detail="token is missing")
    return token


def _arguments(body: Body) -> Body:
    arguments = body.get("arguments")
    if not isinstance(arguments, dict):
        raise BadCall(detail="arguments are missing")
    return cast("Body", arguments)


def _number(body: Body, name: str) -> int:
    value = body.get(name, 0)
    if type(value) is not int or value < 0:
        raise BadCall(detail=f"{name} must be a number from 0 on")
    return value


def _refusal(exc: HandrailError) -> Response:
    return _json(exc.status, exc.body("en") | {"error_zh": exc.text("zh"), "params": {k: str(v) for k, v in exc.params.items()}})


def _json(status: int, content: object) -> Response:
    return Response(orjson.dumps(content), status, media_type="application/json")
