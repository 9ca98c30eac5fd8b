"""The log of requests: looked through, counted and forgotten; rules for one key or one order."""

from typing import Any

import pytest

from support.sandbox_calls import AsgiSandbox


@pytest.fixture
def asked(sandbox: AsgiSandbox) -> AsgiSandbox:
    """Two orders, a second apart, one refused, and a look."""
    sandbox.order(metadata={"ref": "A-1"})
    sandbox.advance(1)
    sandbox.order(metadata={"ref": "A-2"})
    sandbox.post("/v1/orders", {})
    sandbox.get("/v1/orders")
    return sandbox


FITTING: list[tuple[dict[str, Any], int]] = [
    ({}, 4),
    ({"method": "POST"}, 3),
    ({"status": 400}, 1),
    ({"method": "POST", "status": 200}, 2),
    ({"path": "/v1/refunds*"}, 0),
    ({"path": "/v1/ord*"}, 4),
    ({"body": "A-2"}, 1),
    ({"since": "2026-10-01T09:00:01Z"}, 3),
    ({"until": "2026-10-01T09:00:00Z"}, 1),
]


@pytest.mark.parametrize(("which", "count"), FITTING)
def test_requests_are_found_and_counted(
    asked: AsgiSandbox, which: dict[str, Any], count: int
) -> None:
    """By method, path, status, body and time; `verify` says whether there are so many."""
    query = "&".join(f"{name}={value}" for name, value in which.items())
    listed = asked.control(f"/requests?{query}", method="GET").json["data"]
    assert len(listed) == count
    for wanted in (count, count + 1):
        told = asked.control("/requests/verify", {**which, "count": wanted}).json
        assert (told["found"], told["ok"]) == (count, wanted == count)


def test_log_is_forgotten(asked: AsgiSandbox) -> None:
    """What was asked before a test is none of its business."""
    assert asked.control("/requests", method="DELETE").json["deleted"] == 4
    assert asked.control("/requests", method="GET").json["data"] == []
    asked.get("/v1/orders")
    assert len(asked.control("/requests", method="GET").json["data"]) == 1


def test_rule_for_one_key_leaves_another_alone(sandbox: AsgiSandbox) -> None:
    """Tests side by side have a key each, and do not meet."""
    other = sandbox.control("/keys", {"type": "secret"}).json["secret"]
    sandbox.control("/faults", {"match": {"api_key": other}, "effect": {"status": 503}})
    assert sandbox.get("/v1/orders").status == 200
    assert sandbox.call("GET", "/v1/orders", key=other).status == 503


def test_rule_for_one_order_leaves_another_alone(sandbox: AsgiSandbox) -> None:
    """Whether the order stands in the address or the body, or what belongs to it: its payment."""
    one, two = sandbox.paid(), sandbox.paid()
    refund, other = (
        sandbox.post("/v1/refunds", {"payment": each["id"], "amount": 1}).json
        for each in (one, two)
    )
    rule = {"match": {"order": one["order"]}, "effect": {"status": 503}, "times": 9}
    sandbox.control("/faults", rule)

    def ask(payment: Any, refund: Any) -> list[int]:
        return [
            sandbox.get(f"/v1/orders/{payment['order']}").status,
            sandbox.get("/v1/payments", order=payment["order"]).status,
            sandbox.post("/v1/refunds", {"payment": payment["id"], "amount": 1}).status,
            sandbox.form("/v1/refunds", f"payment={payment['id']}&amount=1").status,
            sandbox.get(f"/v1/refunds/{refund['id']}").status,
            sandbox.get("/v1/disputes", payment=payment["id"]).status,
        ]

    assert ask(two, other) == [200] * 6
    assert ask(one, refund) == [503] * 6
