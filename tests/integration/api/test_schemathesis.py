"""schemathesis reads the OpenAPI document and tries every operation with generated data; the seed is fixed."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

from handrail.api.app import public_app
from tests.demo.client import Client
from tests.demo.embedded import Running
from tests.integration.api.routes import STOPS

EXAMPLES = 20
schema = schemathesis.openapi.from_dict(public_app().openapi()).exclude(path=sorted(STOPS))


@schema.parametrize()  # pyright: ignore[reportUntypedFunctionDecorator]  # schemathesis types it as a bare Callable
@settings(
    max_examples=EXAMPLES,
    derandomize=True,  # the fixed seed: every run tries the same data
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
@pytest.mark.req("BAD-2")
@pytest.mark.timeout(240)
def test_generated_requests_never_find_a_server_error(case: schemathesis.Case, handrail: Running, client: Client) -> None:
    answer = case.call(base_url=handrail.url, headers={"Authorization": f"Bearer {client.token}"}, timeout=60)
    case.validate_response(answer, checks=[not_a_server_error, content_type_conformance, response_schema_conformance])
    if answer.status_code >= 400:
        body = answer.json()
        assert body["success"] is False
        assert body["code"]
        assert "Traceback" not in answer.text
