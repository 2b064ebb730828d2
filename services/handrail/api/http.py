"""Routes: FastAPI for the contract (OpenAPI), a thin handler for the speed.

A handler with the signature `(request)` or `(request, body: Model)` skips FastAPI's dependency machinery: its body is
parsed strictly (`kit.canonical`), validated by pydantic, and its dict answer goes out through orjson. Any other
signature (query and path parameters, streams) runs as FastAPI runs it. The edge dispatches exact paths by look-up.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

import orjson
from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.types import Receive

from handrail.api.context import Actor
from handrail.contract.errors import InvalidRequest, MalformedJson
from handrail.kit.canonical import StrictJsonError, loads

if TYPE_CHECKING:
    from handrail.api.services import Services

ACTOR = "handrail.actor"  # key in the ASGI scope
SERVICES = "handrail.services"
JSON_TYPE = "application/json; charset=utf-8"
JSON_HEADER = (b"content-type", JSON_TYPE.encode())
EMPTY_BODY = b"{}"
SHOWN_ERRORS = 3

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
M = TypeVar("M", bound=BaseModel)


class WireBody(BaseModel):
    """Base of the wire's request bodies: strict types, fields that we do not know are ignored."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class JsonAnswer(Response):
    """A dict as JSON by orjson."""

    media_type = JSON_TYPE

    def render(self, content: object) -> bytes:
        return orjson.dumps(content)


class PlainAnswer(Response):
    """What most handlers answer: a dict as JSON, status 200, no headers of its own. The edge writes it in one go."""

    def __init__(self, content: object) -> None:
        self.status_code = 200
        self.background = None
        self.body = orjson.dumps(content)
        self.raw_headers = [JSON_HEADER, (b"content-length", b"%d" % len(self.body))]


def actor_of(request: Request) -> Actor:
    """Who asks. Set by the edge on every path that is not public."""
    return request.scope[ACTOR]


def services_of(request: Request) -> Services:
    """The services of this process."""
    return request.scope[SERVICES]


def Router(*, tags: list[str], prefix: str = "") -> APIRouter:  # noqa: N802 - reads like the class it returns
    """An APIRouter whose routes take the fast path where they can."""
    return APIRouter(route_class=FastRoute, tags=list(tags), prefix=prefix)


class FastRoute(APIRoute):
    """A route that knows whether it can skip FastAPI's dependency machinery."""

    fast_handler: Handler | None = None

    def get_route_handler(self) -> Handler:
        fast, model = _plan(self.endpoint)
        if not fast:
            ordinary = super().get_route_handler()
            return ordinary if self.body_field is None else _strict(ordinary)
        self.fast_handler = _handler(self.endpoint, model)
        return self.fast_handler


def _strict(handler: Handler) -> Handler:
    """`handler` behind our own JSON parser: FastAPI's takes duplicate keys, NaN and invalid UTF-8."""

    async def checked(request: Request) -> Response:
        try:
            loads(await request.body() or EMPTY_BODY)
        except StrictJsonError as exc:
            raise MalformedJson(detail=str(exc)) from exc
        return await handler(request)

    return checked


def _plan(endpoint: Callable[..., Any]) -> tuple[bool, type[BaseModel] | None]:
    """Whether the endpoint's signature is `(request)` or `(request, body: Model)`, and the model."""
    names = list(inspect.signature(endpoint).parameters)
    hints = get_type_hints(endpoint)
    if names == ["request"]:
        return True, None
    model = hints.get("body")
    if names == ["request", "body"] and isinstance(model, type) and issubclass(model, BaseModel):
        return True, model
    return False, None


def _handler(endpoint: Callable[..., Awaitable[Any]], model: type[BaseModel] | None) -> Handler:
    if model is None:

        async def plain(request: Request) -> Response:
            return _answer(await endpoint(request))

        return plain

    async def with_body(request: Request) -> Response:
        body = parse_body(model, await read_body(request.receive))
        return _answer(await endpoint(request, body))

    return with_body


async def read_body(receive: Receive) -> bytes:
    """All of the body. Raises ClientDisconnect, and whatever `receive` refuses with."""
    chunks: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunks.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(chunks)


def _answer(result: object) -> Response:
    return result if isinstance(result, Response) else PlainAnswer(result)


def parse_body(model: type[M], raw: bytes) -> M:
    """Strict JSON to model; an empty body is `{}`. Raises MalformedJson (400) or InvalidRequest (422)."""
    try:
        value = loads(raw or EMPTY_BODY)
    except StrictJsonError as exc:
        raise MalformedJson(detail=str(exc)) from exc
    return validate(model, value)


def validate(model: type[M], value: object) -> M:
    """Raises InvalidRequest naming the first few fields; the values themselves are never repeated."""
    try:
        return model.model_validate(value)
    except ValidationError as exc:
        raise InvalidRequest(detail=describe(exc), extra={"fields": fields_of(exc)}) from exc


def describe(exc: ValidationError) -> str:
    """The first few problems as text."""
    problems = exc.errors(include_url=False, include_input=False, include_context=False)
    shown = [f"{_where(p['loc'])}: {p['msg']}" for p in problems[:SHOWN_ERRORS]]
    if len(problems) > SHOWN_ERRORS:
        shown.append(f"(+{len(problems) - SHOWN_ERRORS})")
    return "; ".join(shown)


def fields_of(exc: ValidationError) -> list[str]:
    """Names of the fields that were refused, at most 20."""
    problems = exc.errors(include_url=False, include_input=False, include_context=False)
    return [_where(p["loc"]) for p in problems[:20]]


def _where(loc: tuple[int | str, ...]) -> str:
    path = ".".join(str(part)[:64] for part in loc[:8])
    return path or "body"


__all__ = ["JSONResponse", "JsonAnswer", "Request", "Router", "WireBody", "actor_of", "services_of"]
