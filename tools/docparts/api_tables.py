"""Tables of docs/http-api.md, from the application's OpenAPI document, its WebSocket routes and the error classes."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute, APIWebSocketRoute

import handrail
from handrail.contract.errors import HandrailError

SCHEMA = "#/components/schemas/"


def public() -> FastAPI:
    """The application that clients reach."""
    return importlib.import_module("handrail.api.app").public_app()


def admin_routes() -> Iterator[APIRoute]:
    """Routes of the local admin socket."""
    for router in importlib.import_module("handrail.api.app").ADMIN:
        yield from (route for route in router.routes if isinstance(route, APIRoute))


def sockets() -> list[APIWebSocketRoute]:
    """WebSocket routes, which OpenAPI does not know."""
    routers = importlib.import_module("handrail.api.app").PUBLIC
    return [route for router in routers for route in router.routes if isinstance(route, APIWebSocketRoute)]


def routes() -> str:
    """One row a route; WebSockets last."""
    app = public()
    is_public = importlib.import_module("handrail.api.edge.public").is_public
    document = app.openapi()
    rows = ["| route | token | body or query | answers | what it does |", "|---|---|---|---|---|"]
    for path, methods in sorted(document["paths"].items()):
        for method, operation in methods.items():
            token = "no" if is_public(method.upper(), path) else "yes"
            cells = (f"`{method.upper()} {path}`", token, _takes(operation, document), _gives(operation, document), _says(operation))
            rows.append(f"| {' | '.join(cells)} |")
    rows += [f"| `WS {route.path}` | yes | | frames (JSON text) | {_clean(route.endpoint.__doc__)} |" for route in sockets()]
    return "\n".join(rows)


def admin() -> str:
    """One row a route of the admin socket."""
    rows = ["| route | what it does |", "|---|---|"]
    ordered = sorted(admin_routes(), key=lambda route: route.path)
    rows += [f"| `{', '.join(sorted(route.methods or ()))} {route.path}` | {_clean(route.endpoint.__doc__)} |" for route in ordered]
    return "\n".join(rows)


def errors() -> str:
    """One row an error class: code, status, text."""
    for module in pkgutil.walk_packages(handrail.__path__, "handrail."):
        if module.name.startswith(("handrail.api.", "handrail.kit.", "handrail.contract.", "handrail.store.")) and not module.name.endswith(
            "__main__"
        ):
            importlib.import_module(module.name)
    rows = ["| code | status | en | zh |", "|---|---|---|---|"]
    known = {cls.code: cls for cls in _subclasses(HandrailError) if cls.__module__.split(".")[1] in ("api", "kit", "contract", "store")}
    rows += [f"| `{code}` | {cls.status} | {_clean(cls.en)} | {_clean(cls.zh)} |" for code, cls in sorted(known.items())]
    return "\n".join(rows)


def _subclasses(cls: type[HandrailError]) -> Iterator[type[HandrailError]]:
    yield cls
    for child in cls.__subclasses__():
        yield from _subclasses(child)


def _takes(operation: dict[str, Any], document: dict[str, Any]) -> str:
    content = operation.get("requestBody", {}).get("content", {})
    fields = [_field(name, spec, required) for name, spec, required in _properties(content, document)]
    query = [f"`{parameter['name']}`" for parameter in operation.get("parameters", []) if parameter["in"] == "query"]
    return ", ".join([*fields, *(f"?{name}" for name in query)])


def _gives(operation: dict[str, Any], document: dict[str, Any]) -> str:
    content = operation.get("responses", {}).get("200", {}).get("content", {})
    return ", ".join(f"`{name}`" for name, _, _ in _properties(content, document) if name != "success")


def _properties(content: dict[str, Any], document: dict[str, Any]) -> list[tuple[str, dict[str, Any], bool]]:
    schema = content.get("application/json", {}).get("schema", {})
    if schema.get("$ref", "").startswith(SCHEMA):
        schema = document["components"]["schemas"][schema["$ref"].removeprefix(SCHEMA)]
    required = set(schema.get("required", []))
    return [(name, spec, name in required) for name, spec in schema.get("properties", {}).items()]


def _field(name: str, spec: dict[str, Any], required: bool) -> str:  # noqa: FBT001 - one caller, one meaning
    if required:
        return f"`{name}`"
    default = spec.get("default")
    return f"`{name}`?" if default is None else f"`{name}`={default!r}".replace("|", "\\|")


def _says(operation: dict[str, Any]) -> str:
    return _clean(operation.get("description") or operation.get("summary"))


def _clean(text: str | None) -> str:
    return " ".join((text or "").strip().split("\n\n")[0].split()).replace("|", "\\|").replace("<", "&lt;")
