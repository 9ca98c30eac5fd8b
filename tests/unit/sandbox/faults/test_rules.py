"""Fault rules: what goes wrong, when, for whom, and what is kept all the same (R90)."""

from typing import Any

import pytest

from support.sandbox_calls import AsgiSandbox

STATUSES = [
    (429, "rate_limit_error", "rate_limit"),
    (500, "api_error", "internal_error"),
    (502, "api_error", "bad_gateway"),
    (503, "api_error", "service_unavailable"),
    (504, "api_error", "gateway_timeout"),
]


def add(sandbox: AsgiSandbox, **rule: Any) -> Any:
    answer = sandbox.control("/faults", rule)
    assert answer.status == 200, answer.body
    return answer.json


def count(sandbox: AsgiSandbox) -> int:
    return len(sandbox.get("/v1/orders").json["data"])


@pytest.mark.parametrize(("status", "kind", "code"), STATUSES)
def test_before_means_that_nothing_happened(
    sandbox: AsgiSandbox, status: int, kind: str, code: str
) -> None:
    """An error status in the error shape; no object; once by default."""
    add(sandbox, match={"method": "POST"}, effect={"status": status})
    answer = sandbox.post("/v1/orders", sandbox.order_params, idem="k")
    assert (answer.status, answer.json["type"], answer.code) == (status, kind, code)
    assert count(sandbox) == 0
    assert sandbox.post("/v1/orders", sandbox.order_params, idem="k").status == 200


@pytest.mark.parametrize(("status", "kind", "code"), STATUSES)
def test_after_means_that_it_is_done(
    sandbox: AsgiSandbox, status: int, kind: str, code: str
) -> None:
    """The change is committed with its event; a retry with the same key replays the result."""
    order = sandbox.order()
    add(sandbox, phase="after", match={"path": "/v1/orders/*/cancel"}, effect={"status": status})
    path = f"/v1/orders/{order['id']}/cancel"
    answer = sandbox.post(path, idem="k")
    assert (answer.status, answer.json["type"], answer.code) == (status, kind, code)
    assert sandbox.again(order)["status"] == "cancelled"
    assert sandbox.event_types() == ["order.cancelled"]
    again = sandbox.post(path, idem="k")
    assert again.status == 200
    assert again.headers["idempotent-replayed"] == "true"
    assert sandbox.event_types() == ["order.cancelled"]


def test_skip_and_times(sandbox: AsgiSandbox) -> None:
    """`skip` lets some pass, `times` limits how often it fires; then the rule is inert."""
    add(sandbox, skip=2, times=3, effect={"status": 503})
    seen = [sandbox.get("/v1/orders").status for _ in range(7)]
    assert seen == [200, 200, 503, 503, 503, 200, 200]
    (rule,) = sandbox.control("/faults", method="GET").json["data"]
    assert rule["fired"] == 3


def test_rules_are_tried_in_order(sandbox: AsgiSandbox) -> None:
    """The first rule that fires decides; the next one is used when that is used up."""
    add(sandbox, effect={"status": 500})
    add(sandbox, effect={"status": 503})
    assert [sandbox.get("/v1/orders").status for _ in range(3)] == [500, 503, 200]


MATCHES: list[tuple[dict[str, Any], bool]] = [
    ({}, True),
    ({"method": "POST"}, True),
    ({"method": "GET"}, False),
    ({"path": "/v1/orders"}, True),
    ({"path": "/v1/*"}, True),
    ({"path": "/v1/refunds*"}, False),
    ({"idempotency_key": "k1"}, True),
    ({"idempotency_key": "k2"}, False),
    ({"method": "POST", "path": "/v1/orders*", "idempotency_key": None}, True),
]


@pytest.mark.parametrize(("match", "hit"), MATCHES)
def test_match(sandbox: AsgiSandbox, match: dict[str, Any], hit: bool) -> None:
    """Method, path pattern and idempotency key must all fit; null fits everything."""
    add(sandbox, match=match, effect={"status": 500})
    answer = sandbox.post("/v1/orders", sandbox.order_params, idem="k1")
    assert answer.status == (500 if hit else 200)


def test_retry_after_and_body_are_sent_verbatim(sandbox: AsgiSandbox) -> None:
    """The header as it was given; a body that need not be JSON."""
    add(sandbox, effect={"status": 429, "retry_after": 2})
    assert sandbox.get("/v1/orders").headers["retry-after"] == "2"
    add(sandbox, effect={"status": 429})
    assert sandbox.get("/v1/orders").headers["retry-after"] == "1"
    add(sandbox, effect={"status": 503, "retry_after": -5, "body": "<html>down</html>"})
    answer = sandbox.get("/v1/orders")
    assert (answer.status, answer.body) == (503, b"<html>down</html>")
    assert answer.headers["retry-after"] == "-5"


def test_garbage_is_a_200_that_is_no_json(sandbox: AsgiSandbox) -> None:
    """After the commit; the retry replays the real answer."""
    add(sandbox, phase="after", effect={"connection": "garbage"})
    spoilt = sandbox.post("/v1/orders", sandbox.order_params, idem="k")
    assert spoilt.status == 200
    with pytest.raises(ValueError, match=r"decode|JSON|Expecting"):
        _ = spoilt.json
    assert sandbox.post("/v1/orders", sandbox.order_params, idem="k").json["object"] == "order"
    assert count(sandbox) == 1


def test_faults_come_after_permission_and_before_the_version(sandbox: AsgiSandbox) -> None:
    """A fault comes after the limit and before the version (assumptions: Order of checks)."""
    add(sandbox, effect={"status": 500}, times=2)
    assert sandbox.call("GET", "/v1/orders", key=None).status == 401
    assert sandbox.call("GET", "/v1/orders", key=sandbox.publishable).status == 403
    assert sandbox.get("/v1/nothing").status == 404
    assert sandbox.call("GET", "/v1/orders", headers={"svc-version": "x"}).status == 500
    assert sandbox.post("/v1/orders", {"amount": "x"}).status == 500


def test_faults_do_not_touch_the_controls(sandbox: AsgiSandbox) -> None:
    """Rules are for /v1."""
    add(sandbox, effect={"status": 500}, match={"path": "*"})
    assert sandbox.control("/keys", method="GET").status == 200
    assert sandbox.pay(sandbox_order(sandbox)).status == 200


def sandbox_order(sandbox: AsgiSandbox) -> Any:
    assert sandbox.get("/v1/orders").status == 500
    return sandbox.order()


def test_rules_are_shown_and_removed(sandbox: AsgiSandbox) -> None:
    """Added rules are listed as they count; one or all can be deleted."""
    first = add(sandbox, match={"method": "POST"}, effect={"delay_ms": 1, "status": 500})
    assert first == {
        "id": first["id"],
        "object": "fault",
        "match": {"method": "POST"},
        "skip": 0,
        "times": 1,
        "phase": "before",
        "effect": {"status": 500, "delay_ms": 1},
        "fired": 0,
    }
    assert first["id"].startswith("flt_")
    add(sandbox, effect={"status": 500})
    removed = sandbox.control(f"/faults/{first['id']}", method="DELETE")
    assert removed.json == {"id": first["id"], "object": "fault", "deleted": True}
    assert sandbox.control(f"/faults/{first['id']}", method="DELETE").status == 404
    assert sandbox.control("/faults", method="DELETE").json == {"object": "fault", "deleted": 1}
    assert sandbox.get("/v1/orders").status == 200


RULE_ROWS: list[tuple[dict[str, Any], str, str]] = [
    ({"effect": {}}, "parameter_missing", "effect[status]"),
    ({"effect": {"status": 418}}, "parameter_invalid_value", "effect[status]"),
    ({"effect": {"status": 500, "connection": "close"}}, "parameters_exclusive", "effect"),
]


@pytest.mark.parametrize(("rule", "code", "param"), RULE_ROWS)
def test_rules_are_checked(shared: AsgiSandbox, rule: Any, code: str, param: str) -> None:
    """A rule that could not mean anything is refused."""
    answer = shared.control("/faults", rule)
    assert (answer.status, answer.code, answer.param) == (400, code, param)
