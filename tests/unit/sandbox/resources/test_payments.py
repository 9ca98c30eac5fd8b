"""Payments that take their time: debits, redirects, and what is settled of them."""

import pytest

from support.sandbox_calls import AsgiSandbox

DAY = 86400
DEBIT = {"method": "sepa_debit"}
REJECTED = {**DEBIT, "iban": "DE62370400440532013001"}


# --- delayed methods ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("iban", "seconds", "status"),
    [
        (None, 5, "captured"),
        ("DE89370400440532013000", 5, "captured"),
        ("DE08370400440532013003", 180, "captured"),
        ("DE62370400440532013001", 5, "failed"),
        ("DE78370400440532013004", 180, "failed"),
    ],
)
def test_delayed_debit(sandbox: AsgiSandbox, iban: str | None, seconds: int, status: str) -> None:
    """Processing at first; the bank confirms or rejects at the second that its account means."""
    order = sandbox.order()
    answer = sandbox.pay(order, method="sepa_debit", **({"iban": iban} if iban else {}))
    payment = answer.json["payment"]
    assert answer.status == 200
    assert payment["status"] == answer.json["order"]["status"] == "processing"
    assert payment["card"] is None
    assert sandbox.event_types() == ["payment.processing"]
    sandbox.advance(seconds - 1)
    assert sandbox.again(payment)["status"] == "processing"
    sandbox.advance(1)
    payment, order = sandbox.again(payment), sandbox.again(order)
    assert payment["status"] == status
    if status == "captured":
        assert order["status"] == "paid"
        assert sandbox.event_types()[1:] == ["payment.captured", "order.paid"]
    else:
        assert order["status"] == "requires_payment"
        assert payment["failure_code"] == "insufficient_funds"
        assert payment["decline_type"] is None
        assert sandbox.event_types()[1:] == ["payment.failed"]


def test_a_disputed_debit(sandbox: AsgiSandbox) -> None:
    """DE35…3002 is confirmed after 5 s and disputed as unrecognized afterwards."""
    order = sandbox.order()
    sandbox.pay(order, method="sepa_debit", iban="DE35370400440532013002")
    sandbox.advance(10)
    dispute = sandbox.get("/v1/disputes").json["data"][0]
    assert (dispute["reason"], dispute["status"]) == ("unrecognized", "needs_response")
    assert sandbox.event_types()[-1] == "dispute.opened"


def test_a_debit_can_be_finished_by_hand(sandbox: AsgiSandbox) -> None:
    """The control confirms or rejects at once; the scenario does not act on top of it."""
    for to, types in (
        ("captured", ["payment.captured", "order.paid"]),
        ("failed", ["payment.failed"]),
    ):
        before = len(sandbox.events())
        payment = sandbox.pay(sandbox.order(), **REJECTED).json["payment"]
        body = {"to": to, "failure_code": "account_closed"}
        moved = sandbox.control(f"/payments/{payment['id']}/transition", body)
        assert moved.json == sandbox.again(payment)
        assert moved.json["status"] == to
        assert moved.json["failure_code"] == ("account_closed" if to == "failed" else None)
        sandbox.advance(DAY)
        assert sandbox.event_types()[before:] == ["payment.processing", *types]
        again = sandbox.control(f"/payments/{payment['id']}/transition", {"to": "captured"})
        assert (again.status, again.code) == (400, "payment_unexpected_state")
        assert again.json["type"] == "sandbox_error"


# --- redirect methods ---------------------------------------------------------------------------


@pytest.mark.parametrize("manual", [False, True])
def test_redirect_method_succeeds(sandbox: AsgiSandbox, manual: bool) -> None:
    """PayPal captures at once, or authorises where the order is captured by hand."""
    order = sandbox.order(capture_method="manual" if manual else "automatic")
    answer = sandbox.pay(order, method="paypal").json
    assert answer["payment"]["status"] == ("authorized" if manual else "captured")
    assert answer["payment"]["method"] == "paypal"
    assert answer["order"]["status"] == ("authorized" if manual else "paid")


def test_redirect_method_fails(sandbox: AsgiSandbox) -> None:
    """A failed redirect is a failed payment, answered with 402."""
    order = sandbox.order()
    answer = sandbox.pay(order, method="klarna", outcome="failure")
    assert (answer.status, answer.code) == (402, "authentication_failed")
    assert answer.json["type"] == "card_error"
    assert answer.json["payment"]["status"] == "failed"
    assert sandbox.again(order)["status"] == "requires_payment"
    assert sandbox.event_types() == ["payment.failed"]


def test_redirect_method_abandoned(sandbox: AsgiSandbox) -> None:
    """An abandoned redirect leaves no payment and an unchanged order."""
    order = sandbox.order()
    answer = sandbox.pay(order, method="klarna", outcome="abandon")
    assert answer.status == 200
    assert answer.json["payment"] is None
    assert answer.json["order"] == sandbox.again(order)
    assert sandbox.again(order)["latest_payment"] is None
    assert sandbox.events() == []


def test_settlement_is_in_the_orders_currency(sandbox: AsgiSandbox) -> None:
    """Capture, refund and dispute move the settlement currency of the order, at its rate."""
    before = sandbox.balance("GBP")
    payment = sandbox.paid(settlement_currency="GBP")
    assert (payment["settlement_currency"], payment["settlement_amount"]) == ("GBP", 13499)
    assert payment["fx_rate"] == 0.859375
    assert sandbox.balance("GBP") == before + 13499
    sandbox.post("/v1/refunds", {"payment": payment["id"]})
    sandbox.advance(5)
    assert sandbox.balance("GBP") == before
    same = sandbox.paid(settlement_currency="EUR")
    assert same["fx_rate"] == 1
    assert same["settlement_amount"] == 15708


@pytest.mark.parametrize(("bps", "fee"), [(0, 0), (290, 501), (1000, 1728)])
def test_fee_is_taken_of_what_is_settled(sandbox: AsgiSandbox, bps: int, fee: int) -> None:
    """2.9 % of 172.79 USD are 5.01 USD; a refund does not bring them back."""
    sandbox.settings(payment_fee_bps=bps)
    before = sandbox.balance("USD")
    payment = sandbox.paid()
    assert (payment["settlement_amount"], payment["fee"]) == (17279, fee or None)
    assert sandbox.balance("USD") == before + 17279 - fee
    sandbox.post("/v1/refunds", {"payment": payment["id"]})
    sandbox.advance(5)
    assert sandbox.balance("USD") == before - fee
