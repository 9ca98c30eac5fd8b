"""Payouts: every transition that is allowed, every one that is refused, and balances."""

from typing import Any

import pytest

from support.sandbox_calls import AsgiSandbox

Doc = dict[str, Any]
DAY = 86400


def payout_to(sandbox: AsgiSandbox, account: str) -> Doc:
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
def test_payout_is_sent_and_paid(sandbox: AsgiSandbox, account: str) -> None:
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
def test_payout_fails_at_the_bank(sandbox: AsgiSandbox, account: str, reason: str) -> None:
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
def test_payout_that_is_never_sent(sandbox: AsgiSandbox, account: str) -> None:
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
def test_payout_steps_by_hand(sandbox: AsgiSandbox, status: str, to: str) -> None:
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


@pytest.mark.parametrize(
    "reason", [*dict.fromkeys(reason for _, reason in FAILED), "incorrect_account_holder_name"]
)
def test_payout_fails_by_hand_for_each_reason(sandbox: AsgiSandbox, reason: str) -> None:
    """It says so in words; the receiving bank may hold another name, which no test account does."""
    payout = payout_to(sandbox, PAID[0])
    path, asked = f"/payouts/{payout['id']}/transition", {"to": "failed", "failure_reason": reason}
    assert sandbox.control(path, asked).json["failure_message"].endswith(".")


def test_payout_needs_balance(sandbox: AsgiSandbox) -> None:
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


def test_refunds_and_disputes_may_drive_a_balance_negative(sandbox: AsgiSandbox) -> None:
    """Shoppers get their money back whatever the balance says."""
    one, two = sandbox.paid(), sandbox.paid()
    sandbox.control("/balances", {"currency": "USD", "amount": 0})
    sandbox.post("/v1/refunds", {"payment": one["id"]})
    sandbox.advance(5)
    assert sandbox.balance("USD") == -17279
    sandbox.control("/disputes", {"payment": two["id"]})
    assert sandbox.balance("USD") == -2 * 17279


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
