"""Customs clearance: who pays what customs charge, with a guaranteed quote and without one."""

from typing import Any

import pytest

from support.sandbox_calls import AsgiSandbox, SandboxAnswer

DAY = 86400


def bought(sandbox: AsgiSandbox, *, guaranteed: bool, **changes: Any) -> Any:
    """A paid order; only with an origin its landed cost is guaranteed."""
    item = {**sandbox.order_params["items"][0], "origin_country": "IT" if guaranteed else None}
    order = sandbox.get(f"/v1/orders/{sandbox.paid(items=[item], **changes)['order']}").json
    assert order["landed_cost"]["guaranteed"] is guaranteed
    return order


def charge(sandbox: AsgiSandbox, order: Any, charged: int) -> SandboxAnswer:
    return sandbox.control(f"/orders/{order['id']}/customs", {"charged": charged})


@pytest.mark.parametrize(
    ("guaranteed", "charged", "covered"),
    [(True, 4500, 1692), (True, 2808, 0), (True, 1000, 0), (True, 0, 0), (False, 4500, 0)],
)
def test_service_covers_what_is_over_a_guaranteed_quote(
    sandbox: AsgiSandbox, guaranteed: bool, charged: int, covered: int
) -> None:
    """28.08 EUR were quoted and collected: the balance pays what is charged, but no excess."""
    order = bought(sandbox, guaranteed=guaranteed)
    before = sandbox.balance("USD")
    shown = charge(sandbox, order, charged).json
    assert shown["customs"] == {
        "charged": charged,
        "covered": covered,
        "paid": charged - covered,
        "paid_by": "merchant",
        "currency": "EUR",
        "charged_at": "2026-10-01T09:00:00Z",
    }
    assert sandbox.again(order) == shown
    assert before - sandbox.balance("USD") == round((charged - covered) * 1.1 + 1e-9)


@pytest.mark.parametrize("guaranteed", [True, False])
def test_shopper_pays_at_the_door_what_the_checkout_did_not_collect(
    sandbox: AsgiSandbox, guaranteed: bool
) -> None:
    """Where the landed cost is not collected the balance has nothing to do with it."""
    sandbox.settings(collect_landed_cost=False)
    order = bought(sandbox, guaranteed=guaranteed)
    before = sandbox.balance("USD")
    customs = charge(sandbox, order, 4500).json["customs"]
    assert customs["paid_by"] == "shopper"
    assert customs["paid"] == (2808 if guaranteed else 4500)
    assert sandbox.balance("USD") == before


def test_customs_charge_a_paid_order_and_once(sandbox: AsgiSandbox) -> None:
    """Neither before it is paid nor a second time; the balance stays as it is."""
    unpaid = charge(sandbox, sandbox.order(), 1)
    assert (unpaid.code, unpaid.json["current_status"]) == (
        "order_unexpected_state",
        "requires_payment",
    )
    order = bought(sandbox, guaranteed=True)
    charge(sandbox, order, 4500)
    before = sandbox.balance("USD")
    again = charge(sandbox, order, 4500)
    assert (again.status, again.code) == (400, "customs_charged")
    assert sandbox.balance("USD") == before


@pytest.mark.parametrize(
    ("name", "charged", "covered"),
    [("customs_over", 4212, 1404), ("customs_exact", 2808, 0), ("customs_under", 1404, 0)],
)
def test_customs_charge_by_themselves_where_the_recipient_says_so(
    sandbox: AsgiSandbox, name: str, charged: int, covered: int
) -> None:
    """Two days after the payment, by the recipient's name; any other name waits for a call."""
    order = bought(sandbox, guaranteed=True, shipping={"country": "DE", "name": name})
    other = bought(sandbox, guaranteed=True, shipping={"country": "DE", "name": "Muster"})
    inland = sandbox.paid(shipping={"country": "US", "name": name})  # of which nothing was quoted
    sandbox.advance(2 * DAY - 1)
    assert sandbox.again(order)["customs"] is None
    sandbox.advance(1)
    customs = sandbox.again(order)["customs"]
    assert (customs["charged"], customs["covered"]) == (charged, covered)
    assert customs["charged_at"] == "2026-10-03T09:00:00Z"
    assert sandbox.again(other)["customs"] is None
    of_nothing = sandbox.get(f"/v1/orders/{inland['order']}").json["customs"]["charged"]
    assert of_nothing == (1 if name == "customs_over" else 0)
