"""The outermost ASGI application: lets a request in, finds its handler, renders what goes wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import parse_qs

import structlog
from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from handrail.api.context import Actor, Identity
from handrail.api.edge.answers import Answer, send_error, send_preflight
from handrail.api.edge.body import STREAMS, capped, check_body
from handrail.api.edge.errors import BadUrl
from handrail.api.edge.head import MAX_TARGET, Head, bearer, read_head
from handrail.api.edge.limits import RateLimits
from handrail.api.edge.metrics import Metrics
from handrail.api.edge.public import is_page, is_public
from handrail.api.edge.rules import check_host, check_origin, is_extension
from handrail.api.http import ACTOR, SERVICES, Handler, PlainAnswer
from handrail.contract.errors import ForeignDevice, HandrailError, InvalidToken, Lang, MethodNotAllowed, NotAuthenticated
from handrail.contract.ids import new_request_id
from handrail.contract.lang import negotiate

log = structlog.get_logger("handrail.edge")
WS_POLICY_VIOLATION = 1008
# refusals that nobody else records; what the gate refuses has its own row
AT_THE_DOOR = ("edge.", "auth.missing", "auth.invalid", "auth.foreign_device", "request.rate_limited", "request.content_type", "system.")


class Authenticator(Protocol):
    """Who a token belongs to."""

    async def authenticate(self, token: str) -> Identity | None:
        """The identity, or None for a token that is unknown or revoked."""
        ...


class Refused(Protocol):
    """Told of every refusal that security cares about."""

    def __call__(self, exc: HandrailError, *, path: str, peer: str, request_id: str, identity: Identity | None) -> None: ...


@dataclass(frozen=True, slots=True)
class EdgeParts:
    """What the edge works with. `fast` maps (method, path) to handlers; `methods` maps a path to its methods, for 405."""

    fast: Mapping[tuple[str, str], Handler]
    methods: Mapping[str, str]
    services: object
    accounts: Authenticator
    limits: RateLimits
    metrics: Metrics
    refused: Refused


@dataclass(frozen=True, slots=True)
class EdgeRules:
    """What the settings say: extra host names, the largest body in bytes, the language when a client names none."""

    allowed_hosts: frozenset[str]
    body_limit: int
    lang: Lang


class Edge:
    """ASGI middleware and dispatcher. What is not in `fast` goes to `app`."""

    def __init__(self, app: ASGIApp, parts: EdgeParts, rules: EdgeRules) -> None:
        self._app = app
        self._fast = parts.fast
        self._methods = parts.methods
        self._services = parts.services
        self._accounts = parts.accounts
        self._limits = parts.limits
        self._metrics = parts.metrics
        self._refused = parts.refused
        self._hosts = rules.allowed_hosts
        self._body_limit = rules.body_limit
        self._lang: Lang = rules.lang

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = read_head(scope["headers"])
        answer = Answer(send, head, scope["method"], scope["path"], new_request_id(), self._metrics)
        identity: Identity | None = None
        try:
            identity = await self._let_in(scope, head)
            if answer.method == "OPTIONS":
                await send_preflight(send, head.origin)
                return
            if identity is not None:
                lang = negotiate(head.language, self._lang)
                scope[ACTOR] = Actor(identity, lang, answer.request_id, _peer(scope), conversation=head.conversation, turn=head.turn)
            scope[SERVICES] = self._services
            # a declared length was compared with the limit, and the server holds the client to it
            if head.content_length is None and answer.path not in STREAMS:
                receive = capped(receive, self._body_limit)
            await self._dispatch(scope, receive, answer)
        except HandrailError as exc:
            if exc.code.startswith(AT_THE_DOOR):
                self._refused(exc, path=answer.path, peer=_peer(scope), request_id=answer.request_id, identity=identity)
            await self._fail(answer, exc)
        except Exception as exc:
            # the process edge: the trace goes to the log, never to the client
            log.exception("request failed", path=answer.path, request_id=answer.request_id)
            started = answer.started
            await self._fail(answer, HandrailError())
            if started:
                raise ConnectionError("failed while answering") from exc

    async def _fail(self, answer: Answer, exc: HandrailError) -> None:
        """Count the failure, and say so unless an answer is on its way already."""
        self._metrics.answered(answer.method, answer.path, exc.status)
        if not answer.started:
            await send_error(answer.send, exc, negotiate(answer.head.language, self._lang), answer.request_id, answer.head.origin)

    async def _let_in(self, scope: Scope, head: Head) -> Identity | None:
        """Who asks, once everything that can be said against the request before its body is read was looked at. Raises the refusal."""
        method, path = scope["method"], scope["path"]
        self._screen(head, scope, navigation=is_page(method, path))
        if method == "OPTIONS":
            return None
        identity = await self._who(head, method, path, _peer(scope))
        refuse(check_body(head, method, path, self._body_limit))
        return identity

    def _screen(self, head: Head, scope: Scope, *, navigation: bool) -> None:
        """Host, origin and URL. Raises the refusal."""
        if (
            len(scope["raw_path"] or b"") + len(scope["query_string"]) > MAX_TARGET
            or not scope["path"].startswith("/")
            or "\0" in scope["path"]
        ):
            raise BadUrl
        refuse(check_host(head, self._hosts) or check_origin(head, navigation=navigation))

    async def _who(self, head: Head, method: str, path: str, peer: str) -> Identity | None:
        """The identity behind the bearer token; None on a public path. Raises 401, 403 or 429."""
        token = bearer(head.authorization)
        if is_public(method, path):
            refuse(self._limits.anonymous(peer))
            # a token on a public path is honoured (shutdown from elsewhere) but not required
            return await self._accounts.authenticate(token) if token else None
        return await self._authenticate(token, head, peer)

    async def _authenticate(self, token: str | None, head: Head, peer: str) -> Identity:
        if token is None:
            raise self._limits.failure(peer) or NotAuthenticated()
        identity = await self._accounts.authenticate(token)
        if identity is None:
            raise self._limits.failure(peer) or InvalidToken()
        if identity.origin and is_extension(head.origin) and head.origin != identity.origin:
            raise ForeignDevice
        refuse(self._limits.device(identity.device_id))
        return identity

    async def _dispatch(self, scope: Scope, receive: Receive, answer: Answer) -> None:
        handler = self._fast.get((answer.method, answer.path))
        if handler is None:
            allowed = self._methods.get(answer.path)
            if allowed is not None and answer.method not in allowed:
                raise MethodNotAllowed(allowed=allowed, headers={"Allow": allowed})
            await self._app(scope, receive, answer)
            return
        response = await handler(Request(scope, receive))
        if type(response) is PlainAnswer:
            await answer.plain(response)
        else:
            await response(scope, receive, answer)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = read_head(scope["headers"])
        lang = negotiate(head.language, self._lang)
        request_id = new_request_id()
        identity: Identity | None = None
        try:
            self._screen(head, scope, navigation=False)
            token = bearer(head.authorization) or _query_token(scope)
            identity = await self._authenticate(token, head, _peer(scope))
            scope[SERVICES] = self._services
            scope[ACTOR] = Actor(identity, lang, request_id, _peer(scope))
            await self._app(scope, receive, send)
        except HandrailError as exc:
            self._refused(exc, path=scope["path"], peer=_peer(scope), request_id=request_id, identity=identity)
            await receive()  # the connect message must be taken before the refusal
            if "websocket.http.response" in scope.get("extensions", {}):
                await _refuse_upgrade(send, exc, lang, request_id)
            else:
                await send({"type": "websocket.close", "code": WS_POLICY_VIOLATION})


def refuse(error: HandrailError | None) -> None:
    """Raise the refusal, if there is one."""
    if error is not None:
        raise error


async def _refuse_upgrade(send: Send, exc: HandrailError, lang: Lang, request_id: str) -> None:
    """The refusal as an HTTP answer instead of an upgrade; the wire wants 403 for a bad token."""
    import orjson  # noqa: PLC0415 - only on this rare path

    raw = orjson.dumps(exc.body(lang, request_id))
    status = 403 if exc.status == 401 else exc.status  # noqa: PLR2004 - HTTP
    headers = [(b"content-type", b"application/json; charset=utf-8"), (b"content-length", str(len(raw)).encode())]
    await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": raw})


def _query_token(scope: Scope) -> str | None:
    """`?token=`: a browser cannot set headers on a WebSocket, so the wire carries it in the URL."""
    values = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
    return values[0] if len(values) == 1 else None


def _peer(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else "local"
