"""Settings and faults for one key or one order: tests side by side do not meet."""

import json
from typing import Any

import pytest

from support.sandbox_calls import AsgiSandbox
from unit.sandbox.faults.watched import WatchedSandbox

SOFT = "4000000000008013"  # rescued by a smart retry


@pytest.fixture
def other(sandbox: AsgiSandbox) -> str:
    """A second secret key of the same account."""
    key: str = sandbox.control("/keys", {"type": "secret"}).json["secret"]
    return key


def set_for(sandbox: AsgiSandbox, whose: str, **changes: Any) -> None:
    assert sandbox.control("/settings", {"of": whose, **changes}).status == 200


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"require_idempotency_key": True}, 400),
        ({"encodings": "documented"}, 415),
        ({"unknown_parameters": "ignore"}, 200),
    ],
)
def test_requests_of_one_key_are_judged_by_its_settings(
    sandbox: AsgiSandbox, other: str, changes: dict[str, Any], status: int
) -> None:
    """The other key is answered as before, whichever of the two is set."""
    text = "amount=12900&currency=EUR&shipping[country]=DE&items[0][name]=Jacket"
    text += "&items[0][quantity]=1&items[0][unit_amount]=12900"
    extra = "&surprise=1" if status == 200 else ""
    set_for(sandbox, other, **changes)
    assert sandbox.form("/v1/orders", text + extra, key=other).status == status
    assert sandbox.form("/v1/orders", text + extra).status == (400 if extra else 200)


def test_orders_go_by_the_key_that_made_them(sandbox: AsgiSandbox, other: str) -> None:
    """Also where the shopper pays, whose page has another key; a setting of the order goes first."""
    set_for(sandbox, other, smart_retries=True, settlement_currency="JPY")
    mine = sandbox.post("/v1/orders", sandbox.order_params, key=other).json
    assert (mine["settlement_currency"], sandbox.order()["settlement_currency"]) == ("JPY", "USD")
    assert sandbox.pay(mine, SOFT).status == 200
    assert sandbox.pay(sandbox.order(), SOFT).status == 402
    stubborn = sandbox.post("/v1/orders", sandbox.order_params, key=other).json
    set_for(sandbox, stubborn["id"], smart_retries=False)
    assert sandbox.pay(stubborn, SOFT).status == 402


def test_one_order_has_its_own(sandbox: AsgiSandbox) -> None:
    """Fees and what happens later too; its key and other orders keep theirs, over a restart of time."""
    one, two = sandbox.order(), sandbox.order()
    set_for(sandbox, one["id"], payment_fee_bps=100)
    fees = [sandbox.pay(order).json["payment"]["fee"] for order in (one, two)]
    assert fees[0] > 0
    assert fees[1] is None
    slow = sandbox.order()
    set_for(sandbox, slow["id"], payment_fee_bps=100)
    sandbox.pay(slow, method="sepa_debit")
    sandbox.advance(5)
    (payment,) = sandbox.get("/v1/payments", order=slow["id"]).json["data"]
    assert payment["fee"] > 0


def test_chaos_for_one_order_loses_the_answers_about_it(sandbox: AsgiSandbox) -> None:
    """Every answer of it and of a refund of its payment, and none of another one."""
    mine, other = sandbox.paid(), sandbox.paid()
    set_for(sandbox, mine["order"], chaos=1)
    with pytest.raises(ConnectionError):
        sandbox.post("/v1/refunds", {"payment": mine["id"], "amount": 1})
    assert sandbox.post("/v1/refunds", {"payment": other["id"], "amount": 1}).status == 200
    assert sandbox.again(mine)["amount_refunded"] == 1
    one, two = sandbox.order(), sandbox.order()
    set_for(sandbox, one["id"], chaos=1)
    with pytest.raises(ConnectionError):
        sandbox.post(f"/v1/orders/{one['id']}/cancel")
    assert sandbox.post(f"/v1/orders/{two['id']}/cancel").status == 200
    assert sandbox.again(one)["status"] == "cancelled"


def test_settings_of_one_are_shown_saved_and_taken_back(sandbox: AsgiSandbox, other: str) -> None:
    """By the key's text or id; an export has them, and a reset has none."""
    set_for(sandbox, other, chaos=0.5)
    (identity,) = (
        key["id"]
        for key in sandbox.control("/keys", method="GET").json["data"]
        if key["key"].endswith(other[-4:])
    )
    shown = [
        sandbox.control(f"/settings?of={whose}", method="GET").json["chaos"]
        for whose in (other, identity)
    ]
    assert shown == [0.5, 0.5]
    assert sandbox.control("/settings", method="GET").json["chaos"] == 0
    state = sandbox.control("/export", method="GET").json
    sandbox.control("/reset", {})
    assert sandbox.control(f"/settings?of={other}", method="GET").status == 400
    assert sandbox.control("/import", state).status == 200
    assert sandbox.control(f"/settings?of={other}", method="GET").json["chaos"] == 0.5


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"of": "sk_test_nothing", "chaos": 1}, "of"),
        ({"of": "ord_nothing", "chaos": 1}, "of"),
        ({"of": "sk_test_sandbox", "webhook_delivery": "manual"}, "webhook_delivery"),
        ({"of": "sk_test_sandbox", "insecure_http": "reject"}, "insecure_http"),
    ],
)
def test_what_cannot_be_set_for_one_is_refused(
    sandbox: AsgiSandbox, body: dict[str, Any], param: str
) -> None:
    """Nothing is set then, for one or for all."""
    answer = sandbox.control("/settings", body)
    assert (answer.status, answer.param) == (400, param)
    assert sandbox.control("/settings", method="GET").json["webhook_delivery"] == "auto"


def test_deliveries_about_one_order_go_wrong_alone(watched: WatchedSandbox) -> None:
    """By a rule with its id, whatever of it changed."""
    sandbox = watched.sandbox
    watched.listen("order.paid", "payment.captured")
    one, two = sandbox.order(), sandbox.order()
    watched.fault("drop", match={"order": one["id"]}, times=9)
    for order in (one, two):
        sandbox.pay(order)
    watched.run(seconds=5)
    named = [json.loads(each.body)["data"]["object"] for each in watched.postman.sent]
    assert {doc.get("order", doc["id"]) for doc in named} == {two["id"]}
