"""Whatever is sent, the answer is JSON in the documented shape and never a 500 (R88)."""

from typing import Any
from urllib.parse import quote, urlencode

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.sandbox_calls import AsgiSandbox, SandboxAnswer
from support.suite.drawing import examples
from svc.sandbox.openapi.document import OPERATIONS

NAMES = (
    "amount currency settlement_currency shipping country postal_code items name hs_code quantity "
    "unit_amount origin_country capture_method metadata cancellation_reason payment reason "
    "source_currency destination account_holder_name iban account_number bank_code reference "
    "ship_from_country shipping_amount url events description evidence tracking_number submit "
    "limit starting_after status order created gte lt id object"
).split()
WORDS = (
    "EUR eur USD JPY ALL XX DE US GB manual automatic paid pending order.paid true false 1 0 -1 "
    "2026-10-01T09:00:00Z https://example.com/ http://localhost/ DE89370400440532013000 "
    "000123456789 fraudulent 6203.39"
).split()

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 200),
    st.sampled_from([2**31, 2**63, -(2**63), 10**12, 10**30, 999_999_999_999]),
    st.floats(),
    st.sampled_from(WORDS),
    st.text(max_size=12),
)
names = st.sampled_from(NAMES) | st.text(max_size=6)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=5),
    max_leaves=12,
)
bodies = st.dictionaries(st.sampled_from(NAMES), values, max_size=8)
fuzz = settings(
    max_examples=examples(3),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def check(answer: SandboxAnswer) -> None:
    shown = answer.json
    assert answer.status in (200, 400, 403, 404, 405, 413, 415), answer.body
    assert answer.headers["request-id"].startswith("req_")
    if answer.status != 200:
        assert shown["type"] in ("invalid_request_error", "idempotency_error", "permission_error")
        assert shown["code"]
        assert shown["message"]
        assert shown["request_id"] == answer.headers["request-id"]
        assert set(shown) <= {"type", "code", "message", "param", "request_id", "current_status"}


@given(operation=st.sampled_from(OPERATIONS), body=bodies, version=st.none() | st.text(max_size=10))
@fuzz
def test_any_json_gets_an_answer(
    shared: AsgiSandbox, operation: Any, body: Any, version: str | None
) -> None:
    path = operation.path.replace(":id", shared_id(shared, operation.kind))
    headers = {} if version is None else {"svc-version": quote(version)}
    if operation.method == "GET":
        query = urlencode({str(name): str(value) for name, value in body.items()}, errors="replace")
        check(shared.call("GET", path, query=query, headers=headers))
    else:
        check(shared.post(path, body, headers=headers))


def shared_id(shared: AsgiSandbox, kind: str | None) -> str:
    """The id of an existing object of the kind where that is easy, else of none."""
    if kind == "order":
        return str(shared.order()["id"])
    return "none"
