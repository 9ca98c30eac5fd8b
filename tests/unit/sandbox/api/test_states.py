"""The state machines: every transition that is allowed, every one that is refused."""

from collections.abc import Callable
from typing import Any

import pytest

from support.sandbox_calls import Answer, Sandbox
from svc.spec import EVIDENCE_KEYS

Doc = dict[str, Any]
DAY = 86400
DEBIT = {"method": "sepa_debit"}
REJECTED = {**DEBIT, "iban": "DE62370400440532013001"}


# --- orders -------------------------------------------------------------------------------------


def order_in(sandbox: Sandbox, status: str) -> Doc:
    """An order in a state, with manual capture wherever that leads there."""
    manual = "manual" if status in ("authorized", "captured", "voided") else "automatic"
    order = sandbox.order(capture_method=manual)
    path = f"/v1/orders/{order['id']}"
    steps: dict[str, Callable[[], Any]] = {
        "requires_payment": lambda: None,
        "processing": lambda: sandbox.pay(order, **DEBIT),
        "authorized": lambda: sandbox.pay(order),
        "paid": lambda: sandbox.pay(order),
        "captured": lambda: (sandbox.pay(order), sandbox.post(f"{path}/capture")),
        "cancelled": lambda: sandbox.post(f"{path}/cancel"),
        "voided": lambda: (sandbox.pay(order), sandbox.post(f"{path}/cancel")),
    }
    steps[status]()
    return order


STATES = ["requires_payment", "processing", "authorized", "paid", "captured", "cancelled", "voided"]
SHOWN = {"captured": "paid", "voided": "cancelled"}
ALLOWED = {
    "update": {"requires_payment": "requires_payment"},
    "cancel": {"requires_payment": "cancelled", "authorized": "cancelled"},
    "capture": {"authorized": "paid"},
    "pay": {"requires_payment": "paid"},
}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("action", list(ALLOWED))
def test_order_action_in_each_state(sandbox: Sandbox, state: str, action: str) -> None:
    """Every action in every state: it leads where the table says, or is refused and does nothing."""
    order = order_in(sandbox, state)
    before, events = sandbox.again(order), len(sandbox.events())
    status = SHOWN.get(state, state)
    assert before["status"] == status
    answer = _act(sandbox, order, action)
    after = sandbox.again(order)
    if state in ALLOWED[action]:
        assert answer.status == 200
        assert after["status"] == ALLOWED[action][state]
        return
    assert answer.status == 400
    assert after == before
    assert len(sandbox.events()) == events
    if action == "capture" and order["capture_method"] == "automatic":
        assert answer.code == "capture_not_allowed"
    else:
        assert answer.code == "order_unexpected_state"
        assert answer.json["current_status"] == status
        assert "param" not in answer.json


def _act(sandbox: Sandbox, order: Doc, action: str) -> Answer:
    if action == "pay":
        return sandbox.pay(order)
    if action == "update":
        return sandbox.post(f"/v1/orders/{order['id']}", {"metadata": {"a": "b"}})
    return sandbox.post(f"/v1/orders/{order['id']}/{action}")


def test_cancelling_a_paid_order_points_to_refunds(sandbox: Sandbox) -> None:
    """The message says what to do instead."""
    order = order_in(sandbox, "paid")
    assert "refund" in _act(sandbox, order, "cancel").json["message"]


@pytest.mark.parametrize(
    "reason", [None, "duplicate", "fraudulent", "requested_by_customer", "abandoned"]
)
def test_cancelling_an_unpaid_order(sandbox: Sandbox, reason: str | None) -> None:
    """requires_payment to cancelled: one event, the reason and the time are kept."""
    order = sandbox.order()
    body = {} if reason is None else {"cancellation_reason": reason}
    cancelled = sandbox.post(f"/v1/orders/{order['id']}/cancel", body).json
    assert cancelled["cancellation_reason"] == reason
    assert cancelled["cancelled_at"] == "2026-10-01T09:00:00Z"
    assert [(e["type"], e["data"]["object"]) for e in sandbox.events()] == [
        ("order.cancelled", cancelled)
    ]


def test_cancelling_for_an_unknown_reason_is_refused(sandbox: Sandbox) -> None:
    """The reason is one of four; `authorization_expired` is the sandbox's own."""
    order = sandbox.order()
    body = {"cancellation_reason": "authorization_expired"}
    answer = sandbox.post(f"/v1/orders/{order['id']}/cancel", body)
    assert (answer.code, answer.param) == ("parameter_invalid_value", "cancellation_reason")


def test_automatic_capture(sandbox: Sandbox) -> None:
    """A card approves: captured and paid, payment.captured before order.paid, balance credited."""
    before = sandbox.balance("USD")
    payment = sandbox.paid()
    order = sandbox.get(f"/v1/orders/{payment['order']}").json
    assert (payment["status"], order["status"]) == ("captured", "paid")
    assert order["paid_at"] == payment["captured_at"] == "2026-10-01T09:00:00Z"
    assert order["latest_payment"] == payment["id"]
    assert order["amount_captured"] == payment["amount_captured"] == 15708
    assert sandbox.balance("USD") == before + 17279
    events = sandbox.events()
    assert [event["type"] for event in events] == ["payment.captured", "order.paid"]
    assert [event["data"]["object"] for event in events] == [payment, order]


def test_manual_capture_in_full(sandbox: Sandbox) -> None:
    """Authorised first, nothing on the balance; captured later, once."""
    before = sandbox.balance("USD")
    held = sandbox.paid(capture_method="manual")
    assert held["status"] == "authorized"
    assert held["amount_captured"] == held["amount_released"] == 0
    assert held["settlement_amount"] is None
    assert held["authorization_expires_at"] == "2026-10-08T09:00:00Z"
    assert sandbox.balance("USD") == before
    assert sandbox.event_types() == ["payment.authorized"]
    captured = sandbox.post(f"/v1/orders/{held['order']}/capture").json
    assert (captured["status"], captured["amount_captured"]) == ("captured", 15708)
    assert captured["amount_released"] == 0
    assert captured["captured_at"] == "2026-10-01T09:00:00Z"
    assert sandbox.balance("USD") == before + 17279
    assert sandbox.event_types() == ["payment.authorized", "payment.captured", "order.paid"]
    assert sandbox.post(f"/v1/orders/{held['order']}/capture").code == "order_unexpected_state"


def test_partial_capture_releases_the_rest(sandbox: Sandbox) -> None:
    """A partial capture gives the remainder back at once, and there is no second capture."""
    held = sandbox.paid(capture_method="manual")
    captured = sandbox.form(f"/v1/orders/{held['order']}/capture", "amount=10000").json
    assert captured["amount_captured"] == 10000
    assert captured["amount_released"] == 5708
    assert captured["settlement_amount"] == 11000
    order = sandbox.get(f"/v1/orders/{held['order']}").json
    assert (order["status"], order["amount_captured"]) == ("paid", 10000)
    sandbox.advance(8 * DAY)
    assert sandbox.again(captured)["status"] == "captured"
    assert "order.cancelled" not in sandbox.event_types()


@pytest.mark.parametrize(
    ("amount", "code"),
    [(15709, "amount_too_large"), (0, "amount_too_small"), (-5, "amount_too_small")],
)
def test_capture_amount_is_bounded(sandbox: Sandbox, amount: int, code: str) -> None:
    """1 to the authorised amount; a refused capture leaves the authorisation as it was."""
    held = sandbox.paid(capture_method="manual")
    answer = sandbox.post(f"/v1/orders/{held['order']}/capture", {"amount": amount})
    assert (answer.status, answer.code, answer.param) == (400, code, "amount")
    assert sandbox.again(held) == held
    for good in (1, 15708):
        held = sandbox.paid(capture_method="manual")
        path = f"/v1/orders/{held['order']}/capture"
        assert sandbox.post(path, {"amount": good}).json["amount_captured"] == good


def test_cancelling_an_authorised_order_releases_it(sandbox: Sandbox) -> None:
    """payment.cancelled comes before order.cancelled; the whole amount is released."""
    before = sandbox.balance("USD")
    held = sandbox.paid(capture_method="manual")
    order = sandbox.post(f"/v1/orders/{held['order']}/cancel").json
    payment = sandbox.again(held)
    assert (order["status"], payment["status"]) == ("cancelled", "cancelled")
    assert payment["amount_released"] == 15708
    assert sandbox.event_types() == ["payment.authorized", "payment.cancelled", "order.cancelled"]
    assert sandbox.events()[1]["data"]["object"] == payment
    assert sandbox.balance("USD") == before


def test_authorisation_expires_after_seven_days(sandbox: Sandbox) -> None:
    """To the second: then the order is cancelled for `authorization_expired`."""
    held = sandbox.paid(capture_method="manual")
    sandbox.advance(7 * DAY - 1)
    assert sandbox.again(held)["status"] == "authorized"
    sandbox.advance(1)
    order = sandbox.get(f"/v1/orders/{held['order']}").json
    assert order["status"] == "cancelled"
    assert order["cancellation_reason"] == "authorization_expired"
    assert order["cancelled_at"] == "2026-10-08T09:00:00Z"
    assert sandbox.again(held)["amount_released"] == 15708
    assert sandbox.event_types()[1:] == ["payment.cancelled", "order.cancelled"]


def test_a_declined_order_can_be_paid_again(sandbox: Sandbox) -> None:
    """A decline keeps the order open; each attempt is a payment of its own."""
    order = sandbox.order()
    assert sandbox.pay(order, "4000000000000002").status == 402
    failed = sandbox.again(order)
    assert failed["status"] == "requires_payment"
    paid = sandbox.pay(order).json["payment"]
    assert failed["latest_payment"] != paid["id"]
    assert len(sandbox.get("/v1/payments", order=order["id"]).json["data"]) == 2
    assert sandbox.event_types() == ["payment.failed", "payment.captured", "order.paid"]


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
def test_delayed_debit(sandbox: Sandbox, iban: str | None, seconds: int, status: str) -> None:
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


def test_a_disputed_debit(sandbox: Sandbox) -> None:
    """DE35…3002 is confirmed after 5 s and disputed as unrecognized afterwards."""
    order = sandbox.order()
    sandbox.pay(order, method="sepa_debit", iban="DE35370400440532013002")
    sandbox.advance(10)
    dispute = sandbox.get("/v1/disputes").json["data"][0]
    assert (dispute["reason"], dispute["status"]) == ("unrecognized", "needs_response")
    assert sandbox.event_types()[-1] == "dispute.opened"


@pytest.mark.parametrize(
    ("currency", "country", "method"),
    [
        ("GBP", "GB", "bacs_debit"),
        ("USD", "US", "us_bank_account"),
        ("AUD", "AU", "becs_debit"),
    ],
)
def test_other_debits_confirm_after_five_seconds(
    sandbox: Sandbox, currency: str, country: str, method: str
) -> None:
    """Only sepa_debit has test accounts; the others always confirm."""
    order = sandbox.order(currency=currency, shipping={"country": country})
    payment = sandbox.pay(order, method=method).json["payment"]
    sandbox.advance(5)
    assert sandbox.again(payment)["status"] == "captured"


def test_a_debit_can_be_finished_by_hand(sandbox: Sandbox) -> None:
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
def test_redirect_method_succeeds(sandbox: Sandbox, manual: bool) -> None:
    """PayPal captures at once, or authorises where the order is captured by hand."""
    order = sandbox.order(capture_method="manual" if manual else "automatic")
    answer = sandbox.pay(order, method="paypal").json
    assert answer["payment"]["status"] == ("authorized" if manual else "captured")
    assert answer["payment"]["method"] == "paypal"
    assert answer["order"]["status"] == ("authorized" if manual else "paid")


def test_redirect_method_fails(sandbox: Sandbox) -> None:
    """A failed redirect is a failed payment, answered with 402."""
    order = sandbox.order()
    answer = sandbox.pay(order, method="klarna", outcome="failure")
    assert (answer.status, answer.code) == (402, "authentication_failed")
    assert answer.json["type"] == "card_error"
    assert answer.json["payment"]["status"] == "failed"
    assert sandbox.again(order)["status"] == "requires_payment"
    assert sandbox.event_types() == ["payment.failed"]


def test_redirect_method_abandoned(sandbox: Sandbox) -> None:
    """An abandoned redirect leaves no payment and an unchanged order."""
    order = sandbox.order()
    answer = sandbox.pay(order, method="klarna", outcome="abandon")
    assert answer.status == 200
    assert answer.json["payment"] is None
    assert answer.json["order"] == sandbox.again(order)
    assert sandbox.again(order)["latest_payment"] is None
    assert sandbox.events() == []


# --- refunds ------------------------------------------------------------------------------------


def test_refund_is_pending_then_succeeds(sandbox: Sandbox) -> None:
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


def test_refunds_together_are_bounded_by_the_capture(sandbox: Sandbox) -> None:
    """Pending and succeeded refunds count; without an amount the rest is refunded."""
    held = sandbox.paid(capture_method="manual")
    sandbox.post(f"/v1/orders/{held['order']}/capture", {"amount": 10000})

    def refund(**body: Any) -> Answer:
        return sandbox.post("/v1/refunds", {"payment": held["id"], **body})

    too_large = refund(amount=10001)
    assert (too_large.code, too_large.param) == ("amount_too_large", "amount")
    assert refund(amount=4000).status == 200
    assert refund(amount=6001).code == "amount_too_large"
    assert refund().json["amount"] == 6000
    done = refund(amount=1)
    assert (done.status, done.code) == (400, "payment_already_refunded")
    assert "param" not in done.json


def test_failed_refund_gives_its_amount_back(sandbox: Sandbox) -> None:
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


def test_slow_refund_takes_a_day(sandbox: Sandbox) -> None:
    """Card …7726: pending for 24 h, then succeeded."""
    payment = sandbox.paid("4000000000007726")
    refund = sandbox.post("/v1/refunds", {"payment": payment["id"]}).json
    sandbox.advance(DAY - 1)
    assert sandbox.again(refund)["status"] == "pending"
    sandbox.advance(1)
    assert sandbox.again(refund)["status"] == "succeeded"


@pytest.mark.parametrize("to", ["succeeded", "failed"])
def test_refund_can_be_finished_by_hand(sandbox: Sandbox, to: str) -> None:
    """The control ends a pending refund once; the scenario does not act on top of it."""
    refund = sandbox.post("/v1/refunds", {"payment": sandbox.paid()["id"]}).json
    path = f"/refunds/{refund['id']}/transition"
    moved = sandbox.control(path, {"to": to, "failure_reason": "declined"}).json
    assert moved["status"] == to
    assert moved["failure_reason"] == ("declined" if to == "failed" else None)
    sandbox.advance(DAY)
    assert sandbox.again(refund) == moved
    again = sandbox.control(path, {"to": "succeeded"})
    assert again.code == "refund_unexpected_state"
    assert again.json["current_status"] == to


def _unpayable(sandbox: Sandbox, status: str) -> str:
    if status == "failed":
        return str(sandbox.pay(sandbox.order(), "4000000000000002").json["payment"]["id"])
    if status == "processing":
        return str(sandbox.pay(sandbox.order(), **DEBIT).json["payment"]["id"])
    held = sandbox.paid(capture_method="manual")
    if status == "cancelled":
        sandbox.post(f"/v1/orders/{held['order']}/cancel")
    return str(held["id"])


@pytest.mark.parametrize("status", ["processing", "authorized", "failed", "cancelled"])
def test_only_captured_payments_are_refunded(sandbox: Sandbox, status: str) -> None:
    """Any other status is payment_not_refundable."""
    payment = _unpayable(sandbox, status)
    assert sandbox.get(f"/v1/payments/{payment}").json["status"] == status
    answer = sandbox.post("/v1/refunds", {"payment": payment})
    assert (answer.status, answer.code) == (400, "payment_not_refundable")
    assert "param" not in answer.json


# --- disputes -----------------------------------------------------------------------------------


def disputed(sandbox: Sandbox, **body: Any) -> Doc:
    answer = sandbox.control("/disputes", {"payment": sandbox.paid()["id"], **body})
    assert answer.status == 200
    opened: Doc = answer.json
    return opened


def dispute_in(sandbox: Sandbox, status: str) -> Doc:
    dispute = disputed(sandbox)
    path = f"/v1/disputes/{dispute['id']}"
    if status != "needs_response":
        sandbox.post(path, {"evidence": {"receipt": "r"}, "submit": True})
    if status in ("won", "lost"):
        sandbox.control(f"/disputes/{dispute['id']}/decide", {"outcome": status})
    return sandbox.again(dispute)


@pytest.mark.parametrize("status", ["needs_response", "under_review", "won", "lost"])
@pytest.mark.parametrize("action", ["draft", "submit", "accept", "decide", "refund", "open"])
def test_dispute_action_in_each_state(sandbox: Sandbox, status: str, action: str) -> None:
    """Answers only while a response is needed, decisions only under review, refunds after a win."""
    dispute = dispute_in(sandbox, status)
    path = f"/v1/disputes/{dispute['id']}"
    before = len(sandbox.events())
    evidence = {"evidence": {"receipt": "new"}}
    calls: dict[str, Callable[[], Answer]] = {
        "draft": lambda: sandbox.post(path, evidence),
        "submit": lambda: sandbox.post(path, {**evidence, "submit": True}),
        "accept": lambda: sandbox.post(path + "/accept"),
        "decide": lambda: sandbox.control(f"/disputes/{dispute['id']}/decide", {"outcome": "won"}),
        "refund": lambda: sandbox.post("/v1/refunds", {"payment": dispute["payment"]}),
        "open": lambda: sandbox.control("/disputes", {"payment": dispute["payment"]}),
    }
    answer = calls[action]()
    where = {
        "decide": ["under_review"],
        "refund": ["won"],
        "open": ["won"],
    }.get(action, ["needs_response"])
    refusal = {"refund": "payment_disputed", "open": "payment_not_disputable"}
    if status in where:
        assert answer.status == 200
    else:
        assert answer.status == 400
        assert answer.code == refusal.get(action, "dispute_unexpected_state")
        assert sandbox.again(dispute) == dispute
        assert len(sandbox.events()) == before
        if action not in refusal:
            assert answer.json["current_status"] == status


def test_dispute_debits_the_balance_and_marks_the_payment(sandbox: Sandbox) -> None:
    """Opening takes what is left of the payment; dispute.opened is sent."""
    payment = sandbox.paid()
    sandbox.post("/v1/refunds", {"payment": payment["id"], "amount": 5708})
    sandbox.advance(5)
    before = sandbox.balance("USD")
    dispute = sandbox.control("/disputes", {"payment": payment["id"]}).json
    assert dispute["amount"] == 10000
    assert sandbox.balance("USD") == before - 11000
    assert sandbox.again(payment)["disputed"] is True
    last = sandbox.events()[-1]
    assert (last["type"], last["data"]["object"]) == ("dispute.opened", dispute)


def test_evidence_is_a_draft_until_it_is_submitted(sandbox: Sandbox) -> None:
    """Updates merge key by key, an empty value removes a key, and no event is sent."""
    dispute = disputed(sandbox)
    path = f"/v1/disputes/{dispute['id']}"
    before = len(sandbox.events())
    sandbox.form(path, "evidence[tracking_number]=1&evidence[shipping_carrier]=DHL")
    draft = sandbox.form(path, "evidence[tracking_number]=2&evidence[receipt]=r").json
    assert draft["evidence"] == {"tracking_number": "2", "shipping_carrier": "DHL", "receipt": "r"}
    assert (draft["status"], draft["evidence_status"]) == ("needs_response", "draft")
    assert sandbox.post(path, {"evidence": {"receipt": None}}).json["evidence"].keys() == {
        "tracking_number",
        "shipping_carrier",
    }
    assert sandbox.post(path, {}).json["evidence_status"] == "draft"
    assert sandbox.form(path, "evidence=").json["evidence_status"] == "none"
    assert len(sandbox.events()) == before


def test_submitting_needs_evidence(sandbox: Sandbox) -> None:
    """`submit` true without a value anywhere is refused; an earlier draft is enough."""
    dispute = disputed(sandbox)
    path = f"/v1/disputes/{dispute['id']}"
    for body in ({"submit": True}, {"submit": True, "evidence": {"receipt": ""}}):
        answer = sandbox.post(path, body)
        assert (answer.status, answer.code, answer.param) == (400, "evidence_missing", "evidence")
    sandbox.post(path, {"evidence": {"receipt": "r"}})
    submitted = sandbox.post(path, {"submit": True}).json
    assert submitted["status"] == "under_review"
    assert submitted["evidence_status"] == "submitted"
    assert submitted["evidence_submitted_at"] == "2026-10-01T09:00:00Z"
    last = sandbox.events()[-1]
    assert (last["type"], last["data"]["object"]) == ("dispute.evidence_submitted", submitted)


@pytest.mark.parametrize("key", EVIDENCE_KEYS)
def test_every_evidence_key_is_taken(shared: Sandbox, key: str) -> None:
    """All 21 keys, 20000 characters each."""
    dispute = disputed(shared)
    path = f"/v1/disputes/{dispute['id']}"
    assert shared.post(path, {"evidence": {key: "x" * 20000}}).json["evidence"][key]
    long = shared.post(path, {"evidence": {key: "x" * 20001}})
    assert (long.code, long.param) == ("parameter_too_long", f"evidence[{key}]")


def test_evidence_has_limits_and_known_keys(shared: Sandbox) -> None:
    """150000 characters in all after merging; an unknown key is parameter_unknown."""
    dispute = disputed(shared)
    path = f"/v1/disputes/{dispute['id']}"
    for key in EVIDENCE_KEYS[:7]:
        assert shared.post(path, {"evidence": {key: "x" * 20000}}).status == 200
    body = {"evidence": {EVIDENCE_KEYS[7]: "x" * 10001}}
    answer = shared.post(path, body)
    assert (answer.code, answer.param) == ("parameter_too_long", "evidence")
    unknown = shared.post(path, {"evidence": {"photo": "x"}})
    assert (unknown.code, unknown.param) == ("parameter_unknown", "evidence[photo]")


@pytest.mark.parametrize(
    ("text", "outcome"), [("winning_evidence", "won"), ("losing_evidence", "lost")]
)
def test_magic_evidence_decides_after_five_seconds(
    sandbox: Sandbox, text: str, outcome: str
) -> None:
    """The balance gets the amount back only when the dispute is won."""
    dispute = disputed(sandbox)
    before = sandbox.balance("USD")
    body = {"evidence": {"uncategorized_text": text}, "submit": True}
    sandbox.post(f"/v1/disputes/{dispute['id']}", body)
    sandbox.advance(4)
    assert sandbox.again(dispute)["status"] == "under_review"
    sandbox.advance(1)
    closed = sandbox.again(dispute)
    assert closed["status"] == outcome
    assert closed["closed_at"] == "2026-10-01T09:00:05Z"
    assert sandbox.event_types()[-1] == f"dispute.{outcome}"
    assert sandbox.balance("USD") == before + (17279 if outcome == "won" else 0)


def test_other_evidence_waits_for_the_bank(sandbox: Sandbox) -> None:
    """Any other evidence stays under review, past the deadline too, until it is decided."""
    dispute = dispute_in(sandbox, "under_review")
    sandbox.advance(60 * DAY)
    assert sandbox.again(dispute)["status"] == "under_review"
    before = sandbox.balance("USD")
    decided = sandbox.control(f"/disputes/{dispute['id']}/decide", {"outcome": "won"}).json
    assert decided["status"] == "won"
    assert sandbox.balance("USD") == before + 17279


def test_a_missed_deadline_loses(sandbox: Sandbox) -> None:
    """At `evidence_due_by` an unanswered dispute is lost, draft or not."""
    dispute = disputed(sandbox, evidence_due_by="2026-10-03T12:00:00Z", reason="duplicate")
    assert (dispute["evidence_due_by"], dispute["reason"]) == ("2026-10-03T12:00:00Z", "duplicate")
    sandbox.post(f"/v1/disputes/{dispute['id']}", {"evidence": {"receipt": "r"}})
    sandbox.advance(2 * DAY + 3 * 3600 - 1)
    assert sandbox.again(dispute)["status"] == "needs_response"
    sandbox.advance(1)
    lost = sandbox.again(dispute)
    assert (lost["status"], lost["evidence_status"]) == ("lost", "draft")
    assert lost["closed_at"] == "2026-10-03T12:00:00Z"
    assert sandbox.event_types()[-1] == "dispute.lost"


def test_accepting_loses_at_once(sandbox: Sandbox) -> None:
    """Accept is final: lost, one event, no money back, and the deadline does nothing more."""
    dispute = disputed(sandbox)
    before = sandbox.balance("USD")
    lost = sandbox.post(f"/v1/disputes/{dispute['id']}/accept").json
    assert (lost["status"], lost["evidence_status"]) == ("lost", "none")
    sandbox.advance(20 * DAY)
    assert sandbox.event_types().count("dispute.lost") == 1
    assert sandbox.balance("USD") == before


OPEN_ROWS: list[tuple[Doc, int, str, str | None]] = [
    ({}, 400, "parameter_missing", "payment"),
    ({"payment": "pay_none"}, 404, "resource_missing", "payment"),
    ({"reason": "bored"}, 400, "parameter_invalid_value", "reason"),
    ({"evidence_due_by": "soon"}, 400, "parameter_invalid_timestamp", "evidence_due_by"),
    ({"evidence_due_by": "2026-10-01T09:00:00Z"}, 400, "parameter_invalid_value", "evidence_due_by"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "status", "code", "param"), OPEN_ROWS)
def test_opening_a_dispute_is_checked(
    sandbox: Sandbox, body: Doc, status: int, code: str, param: str | None
) -> None:
    """The control's parameters follow the rules of the API's."""
    given = body if body == {} or "payment" in body else {"payment": sandbox.paid()["id"], **body}
    answer = sandbox.control("/disputes", given)
    assert (answer.status, answer.code, answer.param) == (status, code, param)
    assert answer.json["type"] == "sandbox_error"


def test_nothing_left_is_nothing_to_dispute(sandbox: Sandbox) -> None:
    """A payment that is refunded in full, or was never captured, is not disputable."""
    payment = sandbox.paid()
    sandbox.post("/v1/refunds", {"payment": payment["id"]})
    held = sandbox.paid(capture_method="manual")
    for identity in (payment["id"], held["id"]):
        answer = sandbox.control("/disputes", {"payment": identity})
        assert (answer.status, answer.code) == (400, "payment_not_disputable")


# --- payouts ------------------------------------------------------------------------------------


def payout_to(sandbox: Sandbox, account: str) -> Doc:
    destination: Doc = {"country": "DE", "account_holder_name": "Muster GmbH"}
    if account.startswith("DE"):
        destination["iban"] = account
    else:
        destination |= {"account_number": account, "bank_code": "37040044"}
    answer = sandbox.post("/v1/payouts", {**sandbox.payout_params, "destination": destination})
    assert answer.status == 200
    made: Doc = answer.json
    return made


PAID = ["DE89370400440532013000", "000123456789", "DE75512108001245126199", "12345678"]
FAILED = [
    ("DE62370400440532013001", "no_account"),
    ("000111111116", "no_account"),
    ("DE35370400440532013002", "account_closed"),
    ("000111111113", "account_closed"),
    ("DE08370400440532013003", "account_frozen"),
    ("000222222227", "account_frozen"),
    ("DE51370400440532013005", "invalid_currency"),
    ("000444444440", "invalid_currency"),
]
UNSENT = ["DE78370400440532013004", "000333333335"]


@pytest.mark.parametrize("account", PAID)
def test_payout_is_sent_and_paid(sandbox: Sandbox, account: str) -> None:
    """Debited at creation, sent after 1 h, paid after 24 h, an event each."""
    before = sandbox.balance("USD")
    payout = payout_to(sandbox, account)
    assert sandbox.balance("USD") == before - 11200
    sandbox.advance(3599)
    assert sandbox.again(payout)["status"] == "created"
    sandbox.advance(1)
    sent = sandbox.again(payout)
    assert (sent["status"], sent["sent_at"]) == ("sent", "2026-10-01T10:00:00Z")
    sandbox.advance(23 * 3600 - 1)
    assert sandbox.again(payout)["status"] == "sent"
    sandbox.advance(1)
    paid = sandbox.again(payout)
    assert (paid["status"], paid["paid_at"]) == ("paid", "2026-10-02T09:00:00Z")
    assert sandbox.event_types() == ["payout.created", "payout.sent", "payout.paid"]
    assert sandbox.events()[-1]["data"]["object"] == paid
    assert sandbox.balance("USD") == before - 11200


@pytest.mark.parametrize(("account", "reason"), FAILED)
def test_payout_fails_at_the_bank(sandbox: Sandbox, account: str, reason: str) -> None:
    """Sent after 1 h, failed at 24 h with its reason; the balance gets everything back."""
    before = sandbox.balance("USD")
    payout = payout_to(sandbox, account)
    sandbox.advance(3600)
    assert sandbox.again(payout)["status"] == "sent"
    sandbox.advance(23 * 3600)
    failed = sandbox.again(payout)
    assert (failed["status"], failed["failure_reason"]) == ("failed", reason)
    assert failed["failure_message"]
    assert failed["failed_at"] == "2026-10-02T09:00:00Z"
    assert failed["paid_at"] is None
    assert sandbox.event_types() == ["payout.created", "payout.sent", "payout.failed"]
    assert sandbox.balance("USD") == before


@pytest.mark.parametrize("account", UNSENT)
def test_payout_that_is_never_sent(sandbox: Sandbox, account: str) -> None:
    """Failed at 1 h with could_not_process, never sent."""
    before = sandbox.balance("USD")
    payout = payout_to(sandbox, account)
    sandbox.advance(3600)
    failed = sandbox.again(payout)
    assert (failed["status"], failed["failure_reason"]) == ("failed", "could_not_process")
    assert failed["sent_at"] is None
    sandbox.advance(2 * DAY)
    assert sandbox.event_types() == ["payout.created", "payout.failed"]
    assert sandbox.balance("USD") == before


STEPS = {
    "created": {"sent", "failed"},
    "sent": {"paid", "failed"},
    "paid": set[str](),
    "failed": set[str](),
}


@pytest.mark.parametrize("status", list(STEPS))
@pytest.mark.parametrize("to", ["sent", "paid", "failed"])
def test_payout_steps_by_hand(sandbox: Sandbox, status: str, to: str) -> None:
    """One legal step at a time; anything else is refused, and no schedule acts on top of it."""
    payout = payout_to(sandbox, PAID[0])
    path = f"/payouts/{payout['id']}/transition"
    ways = {"created": [], "sent": ["sent"], "paid": ["sent", "paid"], "failed": ["failed"]}
    for step in ways[status]:
        assert sandbox.control(path, {"to": step}).status == 200
    answer = sandbox.control(path, {"to": to, "failure_reason": "account_frozen"})
    if to in STEPS[status]:
        assert answer.json["status"] == to
        assert answer.json["failure_reason"] == ("account_frozen" if to == "failed" else None)
    else:
        assert (answer.status, answer.code) == (400, "payout_unexpected_state")
        assert answer.json["current_status"] == status
    sandbox.advance(2 * DAY)
    ends = {"created": "paid", "sent": "paid", "paid": "paid", "failed": "failed"}
    end = "failed" if to == "failed" and to in STEPS[status] else ends[status]
    assert sandbox.again(payout)["status"] == end


def test_payout_needs_balance(sandbox: Sandbox) -> None:
    """A short balance is refused whole; exactly enough is taken; live starts with nothing."""
    sandbox.control("/balances", {"currency": "USD", "amount": 11199})
    answer = sandbox.post("/v1/payouts", sandbox.payout_params)
    assert (answer.status, answer.code) == (400, "balance_insufficient")
    assert "param" not in answer.json
    assert sandbox.events() == []
    sandbox.control("/balances", {"currency": "USD", "amount": 11200})
    assert sandbox.post("/v1/payouts", sandbox.payout_params).status == 200
    assert sandbox.balance("USD") == 0
    live = sandbox.post("/v1/payouts", sandbox.payout_params, key=sandbox.live)
    assert live.code == "balance_insufficient"


def test_refunds_and_disputes_may_drive_a_balance_negative(sandbox: Sandbox) -> None:
    """Shoppers get their money back whatever the balance says."""
    one, two = sandbox.paid(), sandbox.paid()
    sandbox.control("/balances", {"currency": "USD", "amount": 0})
    sandbox.post("/v1/refunds", {"payment": one["id"]})
    sandbox.advance(5)
    assert sandbox.balance("USD") == -17279
    sandbox.control("/disputes", {"payment": two["id"]})
    assert sandbox.balance("USD") == -2 * 17279


def test_settlement_is_in_the_orders_currency(sandbox: Sandbox) -> None:
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


def test_small_rates_are_plain_decimals(sandbox: Sandbox) -> None:
    """VND to USD is 0.00004 and not 4e-05, in the answer as in the event."""
    order = sandbox.order(currency="VND", amount=500000, shipping={"country": "VN"})
    payment = sandbox.pay(order).json["payment"]
    shown = sandbox.get(f"/v1/payments/{payment['id']}")
    assert b'"fx_rate":0.00004,' in shown.body
    event = sandbox.get(f"/v1/events/{sandbox.events()[0]['id']}")
    assert b'"fx_rate":0.00004,' in event.body


def test_many_small_refunds_cost_what_one_large_one_costs(sandbox: Sandbox) -> None:
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
