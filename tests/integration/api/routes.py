"""Every route there is, from the application's own OpenAPI document."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

SCHEMA = "#/components/schemas/"
# end or replace the service; each has lifecycle tests of its own and is called here with bodies that are refused only
STOPS = frozenset({"/api/shutdown", "/api/agent/restart"})
# the whole list of what needs no token; api/edge/public.py must say the same
PUBLIC_API = frozenset({("POST", "/api/pair"), ("GET", "/api/status"), ("POST", "/api/shutdown"), ("GET", "/healthz"), ("GET", "/readyz")})
PUBLIC_PAGES = frozenset({("GET", "/"), ("GET", "/docs"), ("GET", "/openapi.json"), ("GET", "/favicon.ico")})
SAMPLES = {
    "execId": "0123456789abcdef",
    "name": "Read",
    "device_id": "00000000-0000-4000-8000-000000000000",
    "id": "00000000-0000-4000-8000-000000000000",
}


@dataclass(frozen=True)
class Route:
    """A method and path. `fields` are the JSON body's properties, None when there is no JSON body."""

    method: str
    path: str
    fields: dict[str, Any] | None
    required: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def url(self) -> str:
        """The path with its parameters filled in."""
        url = self.path
        for name, value in SAMPLES.items():
            url = url.replace("{" + name + "}", value)
        if "{" in url:
            raise AssertionError(f"a sample value is missing for {self.path}")
        return url


def is_public(route: Route) -> bool:
    """Whether the route is named as one without a token."""
    return (route.method, route.path) in PUBLIC_API | PUBLIC_PAGES or route.path.startswith("/web/")


@lru_cache(maxsize=1)
def all_routes() -> tuple[Route, ...]:
    """Routes of the public application, in a stable order."""
    from handrail.api.app import public_app

    document = public_app().openapi()
    routes = [
        _route(method.upper(), path, operation, document)
        for path, methods in sorted(document["paths"].items())
        for method, operation in sorted(methods.items())
    ]
    return tuple(routes)


def _route(method: str, path: str, operation: dict[str, Any], document: dict[str, Any]) -> Route:
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if schema is None:
        return Route(method, path, None)
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].removeprefix(SCHEMA)]
    return Route(method, path, schema.get("properties", {}), tuple(schema.get("required", ())))
