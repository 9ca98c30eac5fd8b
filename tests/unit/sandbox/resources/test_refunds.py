"""Refunds: how they end, and what together they may not exceed."""

from typing import Any

import pytest

from support.sandbox_calls import AsgiSandbox, SandboxAnswer

DAY = 86400
DEBIT = {"method": "sepa_debit"}


def test_refund_is_pending_then_succeeds(sandbox: AsgiSandbox) -> None:
    """refund.created at once, refund.succeeded after 5 s, and only then the balance pays."""
    payment = sandbox.paid()
    before = sandbox.balance("USD")
    refund = sandbox.post("/v1/refunds", {"payment": payment["id"], "amount": 10000}).json
    assert refund["status"] == "pending"
    assert sandbox.again(payment)["amount_refunded"] == 10000
    order = sandbox.get(f"/v1/orders/{payment['order']}").json
    assert (order["status"], order["amount_refunded"]) == ("paid", 10000)
    sandbox.advance(4)
    assert sandbox.again(refund)["status"] == "pending"
    assert sandbox.balance("USD") == before
    sandbox.advance(1)
    assert sandbox.again(refund)["status"] == "succeeded"
    assert sandbox.balance("USD") == before - 11000
    assert sandbox.event_types()[2:] == ["refund.created", "refund.succeeded"]
    assert sandbox.events()[-1]["data"]["object"] == sandbox.again(refund)


def test_refunds_together_are_bounded_by_the_capture(sandbox: AsgiSandbox) -> None:
    """Pending and succeeded refunds count; without an amount the rest is refunded."""
    held = sandbox.paid(capture_method="manual")
    sandbox.post(f"/v1/orders/{held['order']}/capture", {"amount": 10000})

    def refund(**body: Any) -> SandboxAnswer:
        return sandbox.post("/v1/refunds", {"payment": held["id"], **body})

    too_large = refund(amount=10001)
    assert (too_large.code, too_large.param) == ("amount_too_large", "amount")
    assert refund(amount=4000).status == 200
    assert refund(amount=6001).code == "amount_too_large"
    assert refund().json["amount"] == 6000
    done = refund(amount=1)
    assert (done.status, done.code) == (400, "payment_already_refunded")
    assert "param" not in done.json


def test_failed_refund_gives_its_amount_back(sandbox: AsgiSandbox) -> None:
    """refund.failed; `amount_refunded` goes down and the amount can be refunded again."""
    payment = sandbox.paid("4000000000005126")
    before = sandbox.balance("USD")
    refund = sandbox.post("/v1/refunds", {"payment": payment["id"]}).json
    sandbox.advance(5)
    failed = sandbox.again(refund)
    assert (failed["status"], failed["failure_reason"]) == ("failed", "expired_or_canceled_card")
    assert sandbox.again(payment)["amount_refunded"] == 0
    assert sandbox.get(f"/v1/orders/{payment['order']}").json["amount_refunded"] == 0
    assert sandbox.balance("USD") == before
    assert sandbox.event_types()[2:] == ["refund.created", "refund.failed"]
    assert sandbox.post("/v1/refunds", {"payment": payment["id"]}).status == 200


def test_slow_refund_takes_a_day(sandbox: AsgiSandbox) -> None:
    """Card …7726: pending for 24 h, then succeeded."""
    payment = sandbox.paid("4000000000007726")
    refund = sandbox.post("/v1/refunds", {"payment": payment["id"]}).json
    sandbox.advance(DAY - 1)
    assert sandbox.again(refund)["status"] == "pending"
    sandbox.advance(1)
    assert sandbox.again(refund)["status"] == "succeeded"


REASONS = "lost_or_stolen_card expired_or_canceled_card insufficient_funds declined unknown".split()


@pytest.mark.parametrize(
    ("to", "reason"), [("succeeded", "declined"), *(("failed", reason) for reason in REASONS)]
)
def test_refund_can_be_finished_by_hand(sandbox: AsgiSandbox, to: str, reason: str) -> None:
    """The control ends a pending refund once; the scenario does not act on top of it."""
    payment = sandbox.paid()
    refund = sandbox.post("/v1/refunds", {"payment": payment["id"]}).json
    path = f"/refunds/{refund['id']}/transition"
    moved = sandbox.control(path, {"to": to, "failure_reason": reason}).json
    assert moved["status"] == to
    assert moved["failure_reason"] == (reason if to == "failed" else None)
    assert (sandbox.again(payment)["amount_refunded"] == 0) is (to == "failed")
    sandbox.advance(DAY)
    assert sandbox.again(refund) == moved
    again = sandbox.control(path, {"to": "succeeded"})
    assert again.code == "refund_unexpected_state"
    assert again.json["current_status"] == to


def _unpayable(sandbox: AsgiSandbox, status: str) -> str:
    if status == "failed":
        return str(sandbox.pay(sandbox.order(), "4000000000000002").json["payment"]["id"])
    if status == "processing":
        return str(sandbox.pay(sandbox.order(), **DEBIT).json["payment"]["id"])
    held = sandbox.paid(capture_method="manual")
    if status == "cancelled":
        sandbox.post(f"/v1/orders/{held['order']}/cancel")
    return str(held["id"])


@pytest.mark.parametrize("status", ["processing", "authorized", "failed", "cancelled"])
def test_only_captured_payments_are_refunded(sandbox: AsgiSandbox, status: str) -> None:
    """Any other status is payment_not_refundable."""
    payment = _unpayable(sandbox, status)
    assert sandbox.get(f"/v1/payments/{payment}").json["status"] == status
    answer = sandbox.post("/v1/refunds", {"payment": payment})
    assert (answer.status, answer.code) == (400, "payment_not_refundable")
    assert "param" not in answer.json


def test_many_small_refunds_cost_what_one_large_one_costs(sandbox: AsgiSandbox) -> None:
    """A hundred yen came in as 68 cents; refunded yen by yen they go out as 68 cents."""
    sandbox.control("/settings", {"collect_landed_cost": False})
    item = {**sandbox.order_params["items"][0], "unit_amount": 100}
    payment = sandbox.paid(amount=100, currency="JPY", items=[item])
    assert payment["settlement_amount"] == 68
    before = sandbox.balance("USD")
    for count in range(1, 101):
        body = {"payment": payment["id"], "amount": 1}
        assert sandbox.post("/v1/refunds", body).status == 200
        if count in (1, 37):
            sandbox.advance(10)
            assert before - sandbox.balance("USD") == {1: 1, 37: 25}[count]
    sandbox.advance(10)
    assert before - sandbox.balance("USD") == 68


def test_refund_and_dispute_together_take_no_more_than_the_payment_brought(
    sandbox: AsgiSandbox,
) -> None:
    """Five yen came in as 3 cents; one yen refunded and four disputed go out as 3 cents."""
    sandbox.control("/settings", {"collect_landed_cost": False})
    item = {**sandbox.order_params["items"][0], "unit_amount": 5}
    before = sandbox.balance("USD")
    payment = sandbox.paid(amount=5, currency="JPY", items=[item])
    assert payment["settlement_amount"] == 3
    sandbox.post("/v1/refunds", {"payment": payment["id"], "amount": 1})
    sandbox.advance(5)
    dispute = sandbox.control("/disputes", {"payment": payment["id"]}).json
    assert (dispute["amount"], sandbox.balance("USD")) == (4, before)
    evidence = {"evidence": {"uncategorized_text": "winning_evidence"}, "submit": True}
    sandbox.post(f"/v1/disputes/{dispute['id']}", evidence)
    sandbox.advance(5)
    assert sandbox.balance("USD") == before + 2


def test_refund_that_fails_after_a_dispute_leaves_its_amount_refundable(
    sandbox: AsgiSandbox,
) -> None:
    """What no dispute holds is refunded while one is open, and no more than that."""
    payment = sandbox.paid("4000000000005126")
    path = {"payment": payment["id"]}
    sandbox.post("/v1/refunds", {**path, "amount": 5708})
    assert sandbox.control("/disputes", path).json["amount"] == 10000
    blocked = sandbox.post("/v1/refunds", path)
    assert (blocked.status, blocked.code) == (400, "payment_disputed")
    sandbox.advance(5)
    assert sandbox.again(payment)["amount_refunded"] == 0
    over = sandbox.post("/v1/refunds", {**path, "amount": 5709})
    assert (over.code, "5708" in over.json["message"]) == ("amount_too_large", True)
    assert sandbox.post("/v1/refunds", path).json["amount"] == 5708
    assert sandbox.control("/disputes", path).code == "payment_not_disputable"


def test_refund_needs_balance_where_the_setting_says_so(sandbox: AsgiSandbox) -> None:
    """Refused when it is asked for, and failed where the balance is gone when it settles."""
    payment = sandbox.paid()
    body = {"payment": payment["id"], "amount": 10000}
    sandbox.control("/balances", {"currency": "USD", "amount": 10999})
    sandbox.settings(negative_balance="refuse")
    refused = sandbox.post("/v1/refunds", body)
    assert (refused.status, refused.code) == (400, "balance_insufficient")
    sandbox.control("/balances", {"currency": "USD", "amount": 11000})
    refund = sandbox.post("/v1/refunds", body).json
    sandbox.control("/balances", {"currency": "USD", "amount": 10999})
    sandbox.advance(5)
    failed = sandbox.again(refund)
    assert (failed["status"], failed["failure_reason"]) == ("failed", "insufficient_funds")
    assert (sandbox.balance("USD"), sandbox.again(payment)["amount_refunded"]) == (10999, 0)
