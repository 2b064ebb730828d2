"""One real Handrail for the tests of this directory; rate limits are off, because these tests are a flood."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from tests.demo.client import Client
from tests.demo.embedded import Running, running_handrail
from tests.integration.api.routes import all_routes, is_public

NO_LIMITS = {"HANDRAIL_RATE_LIMIT": "0", "HANDRAIL_ANONYMOUS_RATE_LIMIT": "0", "HANDRAIL_FAILURE_RATE_LIMIT": "0"}


@pytest.fixture(scope="package")
def handrail() -> Generator[Running]:
    with running_handrail(**NO_LIMITS) as running:
        yield running


@pytest.fixture(scope="package")
def client(handrail: Running) -> Generator[Client]:
    """A device of the owner."""
    with Client(handrail.url) as it:
        it.pair(handrail.paircode(), "api-tests")
        yield it


@pytest.fixture(scope="package")
def document() -> dict[str, Any]:
    """The OpenAPI document."""
    from handrail.api.app import public_app

    return public_app().openapi()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`route`: every one. `guarded_route`: those that need a token. `body_route`: those that take a JSON body."""
    if "route" in metafunc.fixturenames:
        metafunc.parametrize("route", all_routes(), ids=str)
    if "guarded_route" in metafunc.fixturenames:
        metafunc.parametrize("guarded_route", [route for route in all_routes() if not is_public(route)], ids=str)
    if "body_route" in metafunc.fixturenames:
        metafunc.parametrize("body_route", [route for route in all_routes() if route.fields is not None], ids=str)
