"""Routes, versions, headers and the order of the checks before a request is read."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from support.clocks import ManualClock
from support.sandbox_calls import AsgiSandbox
from svc.sandbox.openapi import document
from svc.sandbox.resources import orders

pytestmark = pytest.mark.smoke


JSON = {"content-type": "application/json"}


UNKNOWN = [
    ("GET", "/v1"),
    ("GET", "/v1/"),
    ("GET", "/v1/orders/"),
    ("GET", "/v1/customers"),
    ("GET", "/v1/events"),
    ("GET", "/v1/webhook_endpoints/we_x"),
    ("GET", "/v1/events/evt_x/x"),
    ("GET", "/v1/payment_methods/pm_x"),
    ("POST", "/v1/refunds/rf_x/cancel"),
    ("POST", "/v1/payouts/po_x/cancel"),
    ("GET", "/v2/orders"),
    ("GET", "/v1/orders//cancel"),
    ("GET", "/v1/orders/../orders"),
    ("GET", "/V1/orders"),
]
WRONG = [
    ("DELETE", "/v1/orders", "GET, POST"),
    ("HEAD", "/v1/orders", "GET, POST"),
    ("OPTIONS", "/v1/payments", "GET"),
    ("POST", "/v1/payments", "GET"),
    ("GET", "/v1/webhook_endpoints", "POST"),
    ("GET", "/v1/landed-cost/quotes", "POST"),
    ("GET", "/v1/orders/ord_x/capture", "POST"),
    ("PUT", "/v1/disputes/dp_x", "GET, POST"),
    ("DELETE", "/v1/events/evt_x", "GET"),
    ("PATCH", "/v1/orders/ord_x", "GET, POST"),
]


@pytest.mark.parametrize(("method", "path"), UNKNOWN)
def test_unknown_path_is_404(shared: AsgiSandbox, method: str, path: str) -> None:
    """No other path exists, and none is redirected (assumptions: Operations)."""
    answer = shared.call(method, path)
    assert (answer.status, answer.code) == (404, "endpoint_unknown")


@pytest.mark.parametrize(("method", "path", "allow"), WRONG)
def test_wrong_method_is_405_with_allow(
    shared: AsgiSandbox, method: str, path: str, allow: str
) -> None:
    """A known path with another method answers 405 and names what it takes."""
    answer = shared.call(method, path)
    assert (answer.status, answer.code) == (405, "method_not_allowed")
    assert answer.headers["allow"] == allow


def test_request_id_is_new_for_each_exchange(sandbox: AsgiSandbox) -> None:
    """Every answer carries its own Request-Id and the version used."""
    seen = set()
    for path in ("/v2/orders", "/v1/orders", "/v1/nothing", "/v1/orders/ord_x"):
        answer = sandbox.get(path)
        seen.add(answer.headers["request-id"])
        assert answer.headers["svc-version"] == "2026-09-01"
    assert len(seen) == 4


def test_version_is_pinned_at_the_first_authenticated_request(sandbox: AsgiSandbox) -> None:
    """The account is pinned to the newest version by its first request, even a refused one."""

    def pinned() -> Any:
        return sandbox.control("/settings", method="GET").json["pinned_version"]

    sandbox.call("GET", "/v1/orders", key=None)
    sandbox.call("GET", "/v1/orders", key="sk_test_nobody")
    assert pinned() is None
    assert sandbox.call("GET", "/v1/nothing", key=sandbox.publishable).status == 404
    assert pinned() == "2026-09-01"


@pytest.mark.parametrize("version", ["2026-03-01", "2026-09-01"])
def test_version_header_tries_another_version(sandbox: AsgiSandbox, version: str) -> None:
    """`Svc-Version` holds for one request; the pin stays and can be changed by a setting."""
    answer = sandbox.call("GET", "/v1/orders", headers={"svc-version": version})
    assert answer.headers["svc-version"] == version
    assert sandbox.get("/v1/orders").headers["svc-version"] == "2026-09-01"
    sandbox.settings(pinned_version="2026-03-01")
    for path in ("/v1/orders", "/v2/orders"):
        assert sandbox.get(path).headers["svc-version"] == "2026-03-01"
    sandbox.paid()
    assert sandbox.events()[-1]["api_version"] == "2026-03-01"


@pytest.mark.parametrize("version", ["", "2026-09-02", "2026-9-1", "v1", "latest", "2026-03-01 "])
def test_unknown_version_is_400(shared: AsgiSandbox, version: str) -> None:
    """A wrong form or an unknown date is version_invalid; nothing is carried out."""
    answer = shared.post("/v1/orders", shared.order_params, headers={"svc-version": version})
    assert (answer.status, answer.code) == (400, "version_invalid")
    assert answer.headers["svc-version"] == "2026-09-01"


# From request to request one mistake is mended, and the next one shows.
MENDED: list[tuple[str, str, dict[str, Any]]] = [
    ("https_required", "PUT /v1/nothing", {}),
    ("api_key_missing", "PUT /v1/nothing", {"scheme": "https"}),
    ("api_key_invalid", "PUT /v1/nothing", {"key": "sk_test_nobody"}),
    ("endpoint_unknown", "PUT /v1/nothing", {"key": "pk_test_sandbox"}),
    ("method_not_allowed", "PUT /v1/orders/ord_x", {}),
    ("secret_key_required", "POST /v1/orders/ord_x", {}),
    ("permission_denied", "POST /v1/orders/ord_x", {"key": "rk_test_readonly"}),
    ("version_invalid", "POST /v1/orders/ord_x", {"key": "sk_test_sandbox"}),
    ("body_invalid", "POST /v1/orders/ord_x", {"headers": JSON}),
    ("idempotency_key_invalid", "POST /v1/orders/ord_x", {"body": b'{"colour":1,"amount":0}'}),
    ("resource_missing", "POST /v1/orders/ord_x", {"idem": "good"}),
    ("parameter_unknown", "POST /v1/orders/PAID", {}),
    ("amount_too_small", "POST /v1/orders/PAID", {"body": b'{"amount":0}'}),
    ("order_unexpected_state", "POST /v1/orders/PAID", {"body": b'{"amount":1}'}),
]


def test_checks_come_in_the_chosen_order(sandbox: AsgiSandbox) -> None:
    """A request that breaks every rule is told of them one by one."""
    paid = sandbox.paid()["order"]
    sandbox.settings(insecure_http="reject")
    request: dict[str, Any] = {
        "key": None,
        "body": b"{",
        "headers": {**JSON, "svc-version": "x"},
        "idem": "not good",
    }
    for code, line, mended in MENDED:
        request |= mended
        method, path = line.replace("PAID", paid).split()
        assert sandbox.call(method, path, **request).code == code


def test_rate_limit_comes_after_permission_and_before_the_version(sandbox: AsgiSandbox) -> None:
    """What was refused before the limit is looked at costs no token."""
    sandbox.settings(rate_limit="on")
    for _ in range(30):
        assert sandbox.call("GET", "/v1/orders", key=sandbox.publishable).status == 403
        assert sandbox.get("/v1/nothing").status == 404
    wrong = {"svc-version": "x"}
    for _ in range(25):
        assert sandbox.call("GET", "/v1/orders", headers=wrong).code == "version_invalid"
    assert sandbox.call("GET", "/v1/orders", headers=wrong).code == "rate_limit"


def test_rate_limit_is_a_bucket_on_the_real_clock(sandbox: AsgiSandbox) -> None:
    """25 a second in test, 100 in live, a burst as large; 429 with Retry-After; off by default."""
    assert all(sandbox.get("/v1/orders").status == 200 for _ in range(60))
    sandbox.settings(rate_limit="on")
    for key, rate in ((sandbox.secret, 25), (sandbox.live, 100)):
        burst = [sandbox.call("GET", "/v1/orders", key=key).status for _ in range(rate)]
        assert set(burst) == {200}
        limited = sandbox.call("GET", "/v1/orders", key=key)
        assert (limited.status, limited.code) == (429, "rate_limit")
        assert limited.json["type"] == "rate_limit_error"
        assert limited.headers["retry-after"] == "1"
    sandbox.advance(3600)
    assert sandbox.get("/v1/orders").status == 429
    clock: ManualClock = sandbox.clock
    clock.advance(1 / 25)
    assert [sandbox.get("/v1/orders").status for _ in range(2)] == [200, 429]


def test_rate_limit_is_the_accounts_and_not_each_keys(sandbox: AsgiSandbox) -> None:
    """Two keys of a mode share one bucket, which is empty for both at once."""
    other = sandbox.control("/keys", {"type": "secret"}).json["secret"]
    sandbox.settings(rate_limit="on")
    keys = [sandbox.secret, other] * 13
    statuses = [sandbox.call("GET", "/v1/orders", key=key).status for key in keys]
    assert statuses == [200] * 25 + [429]
    assert sandbox.call("GET", "/v1/orders", key=sandbox.secret).status == 429


def test_each_operation_can_take_its_documented_encoding_alone(sandbox: AsgiSandbox) -> None:
    """`encodings=documented`: forms for captures, endpoints and disputes, JSON for all else."""
    order = sandbox.paid(capture_method="manual")["order"]
    dispute = sandbox.control("/disputes", {"payment": sandbox.paid()["id"]}).json["id"]
    sandbox.settings(encodings="documented")
    forms = [
        (f"/v1/orders/{order}/capture", "amount=100", {"amount": 100}),
        (f"/v1/disputes/{dispute}", "evidence[receipt]=r", {"evidence": {"receipt": "r"}}),
        (
            "/v1/webhook_endpoints",
            "url=https://shop.example/h&events[]=order.paid",
            {"url": "https://shop.example/h", "events": ["order.paid"]},
        ),
    ]
    for path, form, body in forms:
        refused = sandbox.post(path, body)
        assert (refused.status, refused.code) == (415, "unsupported_media_type")
        assert "x-www-form-urlencoded" in refused.json["message"]
        assert sandbox.form(path, form).status == 200
    refused = sandbox.form(f"/v1/orders/{sandbox.order()['id']}", "amount=5")
    assert (refused.status, "application/json" in refused.json["message"]) == (415, True)
    assert sandbox.post(f"/v1/disputes/{dispute}").status == 200  # no body says nothing


def test_errors_can_be_nested(sandbox: AsgiSandbox) -> None:
    """`error_envelope=nested` wraps every error of /v1 as `{"error": …}`."""
    flat = sandbox.get("/v1/orders/ord_x").json
    sandbox.settings(error_envelope="nested")
    for answer in (
        sandbox.get("/v1/orders/ord_x"),
        sandbox.call("GET", "/v1/orders", key=None),
        sandbox.post("/v1/orders", {}),
        sandbox.call("PUT", "/v1/orders"),
        sandbox.get("/v1/nothing"),
    ):
        assert list(answer.json) == ["error"]
        assert answer.json["error"]["request_id"] == answer.headers["request-id"]
    nested = sandbox.get("/v1/orders/ord_x").json["error"]
    assert list(nested) == list(flat)
    assert {**nested, "request_id": ""} == {**flat, "request_id": ""}


def test_sandbox_starts_with_the_settings_that_it_is_given(make_sandbox: Any) -> None:
    """R90: `svc sandbox start --set`; they hold from the first request on."""
    sandbox = make_sandbox(settings={"error_envelope": "nested"})
    assert list(sandbox.get("/v1/orders/ord_x").json) == ["error"]


def test_type_of_an_error_follows_its_status(sandbox: AsgiSandbox) -> None:
    """The specification names the field and none of its values."""
    order: dict[str, Any] = {"json": sandbox.order_params, "idem": "k"}
    sandbox.get("/v1/orders")  # pins the version
    sandbox.control("/faults", {"effect": {"delay_ms": 30}})
    _, running = sandbox.together(("POST", "/v1/orders", order), ("POST", "/v1/orders", order))
    answers = [
        sandbox.post("/v1/orders", {}),
        sandbox.get("/v1/orders/ord_1"),
        sandbox.call("GET", "/v1/orders", key=None),
        sandbox.pay(sandbox.order(), "4000000000000002"),
        sandbox.call("GET", "/v1/orders", key=sandbox.publishable),
        running,
    ]
    for status in (429, 503):
        sandbox.control("/faults", {"effect": {"status": status}})
        answers.append(sandbox.get("/v1/orders"))
    assert {answer.status: answer.json["type"] for answer in answers} == {
        400: "invalid_request_error",
        404: "invalid_request_error",
        401: "authentication_error",
        402: "card_error",
        403: "permission_error",
        409: "idempotency_error",
        429: "rate_limit_error",
        503: "api_error",
    }


def test_an_unexpected_exception_is_500_without_a_trace(
    make_sandbox: Callable[..., AsgiSandbox],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A bug answers internal_error JSON; its trace goes to the log and not to the caller."""
    create, *others = orders.OPERATIONS

    def broken(*given: Any) -> Any:
        create.run(*given)
        raise RuntimeError("secret detail")

    monkeypatch.setattr(document, "OPERATIONS", (replace(create, run=broken), *others))
    sandbox = make_sandbox()
    answer = sandbox.post("/v1/orders", sandbox.order_params)
    assert (answer.status, answer.code) == (500, "internal_error")
    assert answer.json["type"] == "api_error"
    assert b"secret detail" not in answer.body
    assert b"Traceback" not in answer.body
    assert "secret detail" in caplog.text
    assert sandbox.get("/v1/orders").json["data"] == []


def test_what_breaks_before_a_room_is_answered_as_any_break(sandbox: AsgiSandbox) -> None:
    """In the shape of an error, and with no word of what it was."""
    answers: list[Any] = []
    head = {"method": "POST", "query_string": b"", "headers": [], "http_version": "1.0"}
    no_path = {"type": "http", "path": None, **head}

    async def nothing(message: Any = None) -> Any:
        answers.append(message)

    asyncio.run(sandbox.app(no_path, nothing, nothing))
    start, body = answers
    assert (start["status"], json.loads(body["body"])["code"]) == (500, "internal_error")
