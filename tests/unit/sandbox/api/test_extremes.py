"""The far ends: times up to the year 9000, numbers around 2^53, sums beyond an amount."""

import pytest

from support.sandbox_calls import AsgiSandbox


def test_everything_still_works_at_the_last_moment(sandbox: AsgiSandbox) -> None:
    """What is scheduled there lies beyond the last moment, and can be waited for no longer."""
    assert sandbox.control("/clock", {"now": "9000-01-01T00:00:00Z"}).status == 200
    order = sandbox.order(capture_method="manual")
    payment = sandbox.pay(order, card={"exp_year": 9001}).json["payment"]
    assert payment["authorization_expires_at"] == "9000-01-08T00:00:00Z"
    captured = sandbox.post(f"/v1/orders/{payment['order']}/capture")
    assert (captured.status, captured.json["captured_at"]) == (200, "9000-01-01T00:00:00Z")
    refund = sandbox.post("/v1/refunds", {"payment": payment["id"], "amount": 1})
    assert refund.json["status"] == "pending"
    beyond = sandbox.control("/clock/advance", {"seconds": 1})
    assert (beyond.status, beyond.param) == (400, "seconds")
    idle = sandbox.control("/clock/advance", {"until": "idle"})
    assert idle.status == 200
    assert sandbox.get(f"/v1/refunds/{refund.json['id']}").json["status"] == "succeeded"


@pytest.mark.parametrize("back", ["1969-12-31T23:59:59Z", "-001-01-01T00:00:00Z"])
def test_a_time_before_the_present_is_refused(sandbox: AsgiSandbox, back: str) -> None:
    """The clock goes forward only, whatever is asked for."""
    assert sandbox.control("/clock", {"now": back}).status == 400
    assert sandbox.control("/clock/advance", {"seconds": -(2**53)}).status == 400


@pytest.mark.parametrize("amount", [2**53 - 1, 2**53, 2**53 + 1, 2**63, -(2**53)])
def test_numbers_that_doubles_cannot_hold_are_refused_as_amounts(
    sandbox: AsgiSandbox, amount: int
) -> None:
    """They are read exactly: none of them turns into a neighbour that is allowed."""
    answer = sandbox.post("/v1/orders", {**sandbox.order_params, "amount": amount})
    assert (answer.status, answer.param) == (400, "amount")


def test_balances_beyond_doubles_stay_exact(sandbox: AsgiSandbox) -> None:
    """A payment of one cent on top of 2^53 gives 2^53 + 1; an export keeps every digit."""
    assert sandbox.control("/balances", {"currency": "USD", "amount": 1}).status == 200
    state = sandbox.control("/export", method="GET").json
    place = ("test", "USD")
    rows = state["tables"]["balances"]
    row = next(row for row in rows if (row["mode"], row["currency"]) == place)
    row["amount"] = 2**53
    assert sandbox.control("/import", state).status == 200
    sandbox.control("/settings", {"collect_landed_cost": False})
    item = {**sandbox.order_params["items"][0], "unit_amount": 1}
    sandbox.paid(amount=1, currency="USD", items=[item])
    assert sandbox.balance("USD") == 2**53 + 1
    again = sandbox.control("/export", method="GET").json["tables"]["balances"]
    assert {"mode": "test", "currency": "USD", "amount": 2**53 + 1} in again
