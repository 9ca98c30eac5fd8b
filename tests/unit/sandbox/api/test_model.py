"""Random stories against a model: no sequence of calls breaks the money rules (R87)."""

import os
from collections import Counter
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from support.sandbox_calls import AsgiSandbox

CARDS = [
    "4242424242424242",
    "4000000000008013",
    "4000000000000002",
    "4000000000009979",
    "4000000000000259",
    "4000000000007726",
    "4000000000005126",
    "4000000000003220",
]
RUNS = 2000 if os.environ.get("SVC_TEST_LONG") == "1" else 12  # of the slow run
START = 100_000_000
ENDS = {"paid", "cancelled"}


def usd(amount: int) -> int:
    """EUR to USD at 1.10, half up, by arithmetic of the test's own."""
    return int((Decimal(amount) * 11 / 10).quantize(Decimal(1), ROUND_HALF_UP))


class SandboxModel(RuleBasedStateMachine):
    """Orders, captures, refunds, disputes, payouts and time, in any order."""

    make: "Callable[[], AsgiSandbox]"
    orders, payments = Bundle("orders"), Bundle("payments")
    disputes, payouts = Bundle("disputes"), Bundle("payouts")

    @initialize(retries=st.booleans(), fee=st.sampled_from([0, 290, 1000]))
    def begin(self, retries: bool, fee: int) -> None:
        self.sandbox = type(self).make()
        self.sandbox.settings(smart_retries=retries, payment_fee_bps=fee)
        self.fee = fee
        self.frozen: dict[str, Any] = {}
        self.seen: set[str] = set()

    def teardown(self) -> None:
        if hasattr(self, "sandbox"):
            self.sandbox.close()

    @rule(
        target=orders,
        amount=st.integers(1, 50_000),
        manual=st.booleans(),
        country=st.sampled_from(["DE", "FR", "US", "JP"]),
    )
    def create(self, amount: int, manual: bool, country: str) -> Any:
        return self.sandbox.order(
            amount=amount,
            shipping={"country": country},
            capture_method="manual" if manual else "automatic",
        )

    @rule(order=orders, amount=st.integers(1, 50_000))
    def update(self, order: Any, amount: int) -> None:
        before = self.sandbox.again(order)
        answer = self.sandbox.post(f"/v1/orders/{order['id']}", {"amount": amount})
        allowed = before["status"] == "requires_payment"
        assert answer.status == (200 if allowed else 400)

    @rule(order=orders)
    def cancel(self, order: Any) -> None:
        before = self.sandbox.again(order)
        answer = self.sandbox.post(f"/v1/orders/{order['id']}/cancel")
        allowed = before["status"] in ("requires_payment", "authorized")
        assert answer.status == (200 if allowed else 400)

    @rule(
        target=payments,
        order=orders,
        number=st.sampled_from(CARDS),
        three_ds=st.sampled_from(["succeed", "fail", "abandon"]),
    )
    def pay_by_card(self, order: Any, number: str, three_ds: str) -> Any:
        return self._paid(self.sandbox.pay(order, number, three_ds=three_ds), order)

    @rule(target=payments, order=orders, bad=st.booleans())
    def pay_by_debit(self, order: Any, bad: bool) -> Any:
        iban = "DE62370400440532013001" if bad else "DE35370400440532013002"
        return self._paid(self.sandbox.pay(order, method="sepa_debit", iban=iban), order)

    @rule(order=orders, amount=st.none() | st.integers(0, 90_000))
    def capture(self, order: Any, amount: int | None) -> None:
        body = {} if amount is None else {"amount": amount}
        answer = self.sandbox.post(f"/v1/orders/{order['id']}/capture", body)
        if answer.status == 200:
            assert amount is None or answer.json["amount_captured"] == amount

    @rule(
        payment=payments,
        percent=st.none() | st.sampled_from([1, 40, 60, 100, 101]),
        times=st.integers(1, 2),
    )
    def refund(self, payment: Any, percent: int | None, times: int) -> None:
        """Refunds so much of what was captured: the second time it is often more than is left."""
        for _ in range(times if payment else 0):
            captured = self.sandbox.get(f"/v1/payments/{payment}").json["amount_captured"]
            amount = {} if percent is None else {"amount": -(-captured * percent // 100) or 1}
            self.sandbox.post("/v1/refunds", {"payment": payment, **amount})

    @rule(target=disputes, payment=payments)
    def dispute(self, payment: Any) -> Any:
        answer = self.sandbox.control("/disputes", {"payment": payment or "pay_none"})
        return answer.json["id"] if answer.status == 200 else None

    @rule(
        dispute=disputes,
        text=st.sampled_from(["winning_evidence", "losing_evidence", "other"]),
        submit=st.booleans(),
    )
    def answer(self, dispute: Any, text: str, submit: bool) -> None:
        body = {"evidence": {"uncategorized_text": text}, "submit": submit}
        before = self.sandbox.get(f"/v1/disputes/{dispute}").json
        answer = self.sandbox.post(f"/v1/disputes/{dispute}", body)
        if dispute:
            allowed = before["status"] == "needs_response"
            assert answer.status == (200 if allowed else 400)

    @rule(dispute=disputes, outcome=st.sampled_from(["won", "lost"]))
    def decide(self, dispute: Any, outcome: str) -> None:
        self.sandbox.control(f"/disputes/{dispute}/decide", {"outcome": outcome})

    @rule(dispute=disputes)
    def accept(self, dispute: Any) -> None:
        self.sandbox.post(f"/v1/disputes/{dispute}/accept")

    @rule(
        target=payouts,
        amount=st.integers(1, 10_000_000),
        iban=st.sampled_from(["000", "001", "004"]),
    )
    def payout(self, amount: int, iban: str) -> Any:
        account = {"000": "000123456789", "001": "000111111116", "004": "000333333335"}[iban]
        destination = {
            "country": "US",
            "account_holder_name": "Acme",
            "account_number": account,
            "bank_code": "021000021",
        }
        body = {"amount": amount, "currency": "USD", "destination": destination}
        answer = self.sandbox.post("/v1/payouts", body)
        return answer.json["id"] if answer.status == 200 else None

    @rule(payout=payouts, to=st.sampled_from(["sent", "paid", "failed"]))
    def move_payout(self, payout: Any, to: str) -> None:
        self.sandbox.control(f"/payouts/{payout}/transition", {"to": to})

    @rule(seconds=st.sampled_from([1, 5, 3600, 86400, 8 * 86400]))
    def wait(self, seconds: int) -> None:
        self.sandbox.advance(seconds)

    @invariant()
    def money_rules_hold(self) -> None:
        if not hasattr(self, "sandbox"):
            return
        all_of = {
            name: self._all(name) for name in "orders payments refunds disputes payouts".split()
        }
        for payment in all_of["payments"]:
            _check_payment(payment, all_of["refunds"])
        for order in all_of["orders"]:
            _check_order(order, all_of["payments"])
        self._check_frozen(all_of)
        assert self.sandbox.balance("USD") == _expected_balance(all_of, self.fee)

    @invariant()
    def events_show_each_step_once(self) -> None:
        if not hasattr(self, "sandbox"):
            return
        counted = Counter((e["type"], e["data"]["object"]["id"]) for e in self.sandbox.events())
        assert set(counted.values()) <= {1}

    def _paid(self, answer: Any, order: Any) -> Any:
        if answer.status == 400:
            return None
        payment = answer.json["payment"]
        assert payment is None or payment["order"] == order["id"]
        return payment and payment["id"]

    def _all(self, name: str) -> list[Any]:
        found: list[Any] = self.sandbox.get(f"/v1/{name}", limit=100).json["data"]
        return found

    def _check_frozen(self, all_of: dict[str, list[Any]]) -> None:
        """What has ended stays as it is; evidence is frozen once it was submitted."""
        for dispute in all_of["disputes"]:
            if dispute["evidence_status"] == "submitted":
                kept = self.frozen.setdefault(dispute["id"], dispute["evidence"])
                assert dispute["evidence"] == kept
        for order in all_of["orders"]:
            if order["status"] in ENDS:
                kept = self.frozen.setdefault(order["id"], (order["status"], order["amount"]))
                assert (order["status"], order["amount"]) == kept


def _check_payment(payment: Any, refunds: list[Any]) -> None:
    assert 0 <= payment["amount_captured"] <= payment["amount"]
    assert 0 <= payment["amount_refunded"] <= payment["amount_captured"]
    assert payment["amount_captured"] + payment["amount_released"] <= payment["amount"]
    counted = [
        r["amount"] for r in refunds if r["payment"] == payment["id"] and r["status"] != "failed"
    ]
    assert payment["amount_refunded"] == sum(counted)
    if payment["status"] in ("captured", "cancelled"):
        assert payment["amount_captured"] + payment["amount_released"] == payment["amount"]


def _check_order(order: Any, payments: list[Any]) -> None:
    own = [payment for payment in payments if payment["order"] == order["id"]]
    for name in ("amount_captured", "amount_refunded"):
        assert order[name] == sum(payment[name] for payment in own)
    assert sum(payment["status"] == "captured" for payment in own) == (order["status"] == "paid")
    assert order["latest_payment"] == (own[0]["id"] if own else None)


def _expected_balance(all_of: dict[str, list[Any]], fee: int) -> int:
    settled = [int(p["settlement_amount"] or 0) for p in all_of["payments"]]
    captured = sum(settled) - sum((amount * fee + 5000) // 10_000 for amount in settled)
    taken: Counter[str] = Counter()
    for each in (*all_of["refunds"], *all_of["disputes"]):
        if each["status"] in ("succeeded", "needs_response", "under_review", "lost"):
            taken[each["payment"]] += each["amount"]
    sent: int = sum(p["source_amount"] for p in all_of["payouts"] if p["status"] != "failed")
    return START + captured - sum(map(usd, taken.values())) - sent


def play(make: Any, runs: int, steps: int) -> None:
    SandboxModel.make = staticmethod(make)
    chosen = settings(
        max_examples=runs,
        stateful_step_count=steps,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(SandboxModel, settings=chosen)


@pytest.mark.slow
def test_random_stories_keep_the_money_rules(make_sandbox: Any) -> None:
    """A few dozen stories, for every run of the tests."""
    play(make_sandbox, runs=30, steps=25)


@pytest.mark.slow(seconds=10)
def test_many_random_stories_keep_the_money_rules(make_sandbox: Any) -> None:
    """R87: 50 stories of 50 steps; 2,000 with SVC_TEST_LONG=1."""
    play(make_sandbox, runs=RUNS, steps=50)
