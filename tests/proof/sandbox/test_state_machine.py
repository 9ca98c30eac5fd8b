"""Random stories in both modes against a model that foretells every answer (promise R87).

The model keeps what it was shown and knows the rules of the specification. After every step each
object that was touched is retrieved again, every new event is compared with the object it shows,
and the balances are computed anew; at the end of a story everything is compared once more.
"""

import os
from collections import defaultdict
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    multiple,
    rule,
    run_state_machine_as_test,
)

from proof.sandbox.calls import Calls, Doc

OVER_HTTP = 200 if os.environ.get("SVC_TEST_LONG") == "1" else 10
RUNS = 2000 if os.environ.get("SVC_TEST_LONG") == "1" else 12  # of the slow run
MODES = ("test", "test", "test", "live")
USD = {"USD": "1", "EUR": "1.10", "JPY": "0.0068", "KWD": "3.25"}
DIGITS = {"USD": 2, "EUR": 2, "JPY": 0, "KWD": 3}
EVENTS_KEPT = timedelta(days=30)
PLACES = {
    "ord": "orders",
    "pay": "payments",
    "rf": "refunds",
    "po": "payouts",
    "dp": "disputes",
}
# Each status and those that may follow it; a status that is not here is final.
NEXT = {
    ("order", "requires_payment"): {"processing", "authorized", "paid", "cancelled"},
    ("order", "processing"): {"paid", "requires_payment"},
    ("order", "authorized"): {"paid", "cancelled"},
    ("payment", "processing"): {"captured", "failed"},
    ("payment", "authorized"): {"captured", "cancelled"},
    ("refund", "pending"): {"succeeded", "failed"},
    ("payout", "created"): {"sent", "failed"},
    ("payout", "sent"): {"paid", "failed"},
    ("dispute", "needs_response"): {"under_review", "lost"},
    ("dispute", "under_review"): {"won", "lost"},
}
# What may still change of an object whose status is final.
LOOSE = {"order": {"amount_refunded", "customs"}, "payment": {"amount_refunded", "disputed"}}
# What has left the balance again.
TAKING = {
    ("refund", "succeeded"),
    *(("dispute", s) for s in "needs_response under_review lost".split()),
}
ALWAYS_KEPT = ("id", "object", "created", "livemode", "order", "payment")
APPROVED, DISPUTING = "4242424242424242", "4000000000000259"
SLOW_REFUND, FAILING_REFUND = "4000000000007726", "4000000000005126"
SOFT, HARD, RESCUED = "4000000000000002", "4000000000009979", "4000000000008013"
CARDS = {
    APPROVED: True,
    DISPUTING: True,
    SLOW_REFUND: True,
    FAILING_REFUND: True,
    SOFT: False,
    HARD: False,
    RESCUED: False,
}
GOOD = [number for number, approved in CARDS.items() if approved]
AMOUNTS = st.integers(1, 60_000)
RATES = Context(prec=8, rounding=ROUND_HALF_UP)
PRICES = st.sampled_from(["EUR", "USD", "JPY", "KWD"])


Place = tuple[str, str]  # a mode and an id


def converted(amount: int, source: str, target: str) -> int:
    """Minor units in another currency by arithmetic of the test's own."""
    rate = RATES.divide(Decimal(USD[source]), Decimal(USD[target]))
    exact = Decimal(amount).scaleb(DIGITS[target] - DIGITS[source]) * rate
    return int(exact.quantize(Decimal(1), ROUND_HALF_UP))


def cost_of_payout(amount: int, currency: str, source: str) -> int:
    """What a payout takes from the balance by arithmetic of the test's own."""
    rate = RATES.divide(Decimal(USD[source]), Decimal(USD[currency]))
    exact = Decimal(amount).scaleb(DIGITS[source] - DIGITS[currency]) / rate
    fee = converted(50 if currency == source else 200, "USD", source)
    return int(exact.quantize(Decimal(1), ROUND_HALF_UP)) + max(1, fee)


def check_step(before: Doc, now: Doc) -> None:
    """An object took no step, or one that the specification knows; what has ended stays."""
    kind, status = now["object"], before["status"]
    for name in ALWAYS_KEPT:
        assert before.get(name) == now.get(name), name
    follows = NEXT.get((kind, status), set())
    assert now["status"] in follows | {status}, (kind, status, now["status"])
    if not follows:
        changed = {name for name in now if now[name] != before.get(name)}
        assert changed <= LOOSE.get(kind, set()), (kind, status, changed)
    if kind == "dispute" and before["evidence_status"] == "submitted":
        for name in ("evidence", "evidence_status", "evidence_submitted_at"):
            assert before[name] == now[name], name


def check_payment(payment: Doc, fee: int) -> None:
    """Captured <= authorised, refunded <= captured, and nothing of the amount is lost."""
    assert 0 <= payment["amount_captured"] <= payment["amount"]
    assert 0 <= payment["amount_refunded"] <= payment["amount_captured"]
    ended = payment["amount_captured"] + payment["amount_released"]
    assert ended == (payment["amount"] if payment["status"] in ("captured", "cancelled") else 0)
    if payment["status"] == "captured":
        currency, target = payment["currency"], payment["settlement_currency"]
        settled = converted(payment["amount_captured"], currency, target)
        assert payment["settlement_amount"] == settled
        assert (payment["fee"] or 0) == (settled * fee + 5000) // 10_000


class TwoModeModel(RuleBasedStateMachine):
    """Orders, payments, refunds, disputes, payouts and time, in any order, in two modes."""

    wire: "Calls"
    seeds = iter(range(10**9))
    orders, held, payments = Bundle("orders"), Bundle("held"), Bundle("payments")
    refunds = Bundle("refunds")
    disputes, payouts = Bundle("disputes"), Bundle("payouts")

    @initialize(fee=st.sampled_from([0, 290, 1000]))
    def begin(self, fee: int) -> None:
        self.wire.reset(next(self.seeds))
        self.fee = fee
        settings = {"payment_fee_bps": fee}
        assert self.wire.send("POST", "/_sandbox/settings", settings, "")[0] == 200
        self.docs: dict[str, dict[str, Doc]] = {"test": {}, "live": {}}
        self.events: dict[str, dict[str, Doc]] = {"test": {}, "live": {}}
        self.ids: set[str] = set()
        self.secrets: dict[str, str] = {}
        self.started = {mode: self._balances(mode) for mode in self.docs}

    # --- orders and payments --------------------------------------------------------------------

    @rule(
        target=orders,
        mode=st.sampled_from(MODES),
        amount=AMOUNTS,
        currency=PRICES,
        settled=st.sampled_from(["USD", "EUR", "KWD"]),
        country=st.sampled_from(["DE", "US", "JP"]),
        manual=st.booleans(),
        origin=st.sampled_from(["IT", "XX"]),
    )
    def create_order(
        self,
        mode: str,
        amount: int,
        currency: str,
        settled: str,
        country: str,
        manual: bool,
        origin: str,
    ) -> Any:
        item = {"name": "Shoe", "quantity": 1, "unit_amount": amount, "hs_code": "640391"}
        item["origin_country"] = origin
        body = {
            "amount": amount,
            "currency": currency,
            "settlement_currency": settled,
            "shipping": {"country": country},
            "items": [item],
            "capture_method": "manual" if manual else "automatic",
        }
        order = self._done(self.wire.post("/v1/orders", body, mode))
        self.secrets[order["id"]] = order.pop("client_secret")
        assert order["status"] == "requires_payment"
        assert order["amount_total"] == amount + order["landed_cost"]["total"]
        self._new(order["landed_cost"]["quote"])
        return self._added(mode, order)

    @rule(order=orders | held, amount=AMOUNTS)
    def update_order(self, order: Place, amount: int) -> None:
        mode, before = self._known(order)
        answer = self.wire.post(f"/v1/orders/{before['id']}", {"amount": amount}, mode)
        if before["status"] == "requires_payment":
            assert self._done(answer)["amount"] == amount
            self._new(answer[1]["landed_cost"]["quote"])
        else:
            self._refused(answer, "order_unexpected_state", mode)
        self._settle(mode, before["id"])

    @rule(order=orders | held)
    def cancel_order(self, order: Place) -> None:
        mode, before = self._known(order)
        answer = self.wire.post(f"/v1/orders/{before['id']}/cancel", None, mode)
        if before["status"] in ("requires_payment", "authorized"):
            assert self._done(answer)["status"] == "cancelled"
        else:
            self._refused(answer, "order_unexpected_state", mode)
        self._settle(mode, before["id"], before["latest_payment"])

    @rule(target=payments, order=orders, number=st.sampled_from(sorted(CARDS)), late=st.booleans())
    def pay(self, order: Place, number: str, late: bool) -> Any:
        mode, before = self._known(order)
        body: Doc = {"client_secret": self.secrets[before["id"]]}
        if late and "sepa_debit" in before["methods"]:
            body["method"] = "sepa_debit"
            good = True
        else:
            body["card"] = {"number": number, "exp_month": 12, "exp_year": 2040, "cvc": "123"}
            good = CARDS[number]
        answer = self.wire.pay(body, mode)
        if before["status"] != "requires_payment":
            self._refused(answer, "order_unexpected_state", mode)
            self._settle(mode, before["id"])
            return multiple()
        payment: Doc = answer[1]["payment"]
        wanted = self._status_of_attempt(before, mode, body, good)
        assert payment["status"] == wanted
        assert answer[0] == (402 if wanted == "failed" else 200)
        assert payment["amount"] == before["amount_total"]
        place = self._added(mode, payment, before["id"])
        assert self._known(order)[1]["latest_payment"] == payment["id"]
        return place

    @rule(target=payments, amount=AMOUNTS, currency=PRICES, number=st.sampled_from(GOOD))
    def buy(self, amount: int, currency: str, number: str) -> Any:
        """An order that is paid at once, so that stories get to what follows a payment."""
        order = self.create_order("test", amount, currency, "USD", "DE", manual=False, origin="IT")
        return self.pay(order, number, late=False)

    @rule(target=held, amount=AMOUNTS, currency=PRICES)
    def hold(self, amount: int, currency: str) -> Any:
        """An order that is authorised at once."""
        order = self.create_order("test", amount, currency, "EUR", "JP", manual=True, origin="XX")
        self.pay(order, APPROVED, late=False)
        return order

    @rule(order=held | orders, amount=st.none() | st.integers(0, 70_000))
    def capture(self, order: Place, amount: int | None) -> None:
        mode, before = self._known(order)
        body = {} if amount is None else {"amount": amount}
        answer = self.wire.post(f"/v1/orders/{before['id']}/capture", body, mode)
        held = self.docs[mode].get(before["latest_payment"] or "", {"amount": 0})["amount"]
        if amount == 0:
            self._refused(answer, "amount_too_small", mode)
        elif before["capture_method"] != "manual":
            self._refused(answer, "capture_not_allowed", mode)
        elif before["status"] != "authorized":
            self._refused(answer, "order_unexpected_state", mode)
        elif (amount or 0) > held:
            self._refused(answer, "amount_too_large", mode)
        else:
            payment = self._done(answer)
            assert payment["amount_captured"] == amount or (amount is None and held)
            assert payment["amount_released"] == held - payment["amount_captured"]
        self._settle(mode, before["id"], before["latest_payment"])

    @rule(payment=payments, good=st.booleans())
    def bank_answers(self, payment: Place, good: bool) -> None:
        mode, before = self._known(payment)
        change = {"to": "captured" if good else "failed"}
        answer = self.wire.control(f"/payments/{before['id']}/transition", change, mode)
        if before["status"] == "processing":
            assert self._done(answer)["status"] == change["to"]
        else:
            self._refused(answer, "payment_unexpected_state", mode)
        self._settle(mode, before["id"], before["order"])

    @rule(order=orders | held, charged=st.integers(0, 90_000))
    def charge_customs(self, order: Place, charged: int) -> None:
        mode, before = self._known(order)
        answer = self.wire.control(f"/orders/{before['id']}/customs", {"charged": charged}, mode)
        if before["status"] != "paid":
            self._refused(answer, "order_unexpected_state", mode)
        elif before["customs"] is not None:
            self._refused(answer, "customs_charged", mode)
        else:
            customs = self._done(answer)["customs"]
            over = max(0, charged - before["landed_cost"]["total"])
            covered = over if before["landed_cost"]["guaranteed"] else 0
            assert (customs["charged"], customs["covered"]) == (charged, covered)
            assert (customs["paid"], customs["paid_by"]) == (charged - covered, "merchant")
        self._settle(mode, before["id"])

    # --- refunds and disputes -------------------------------------------------------------------

    @rule(
        target=refunds,
        payment=payments,
        percent=st.none() | st.sampled_from([1, 40, 60, 100, 101]),
        times=st.integers(1, 2),
    )
    def refund(self, payment: Place, percent: int | None, times: int) -> Any:
        """Refunds so much of what was captured: the second time it is often more than is left."""
        made = [self._refund(payment, percent) for _ in range(times)]
        return multiple(*(one for one in made if one is not None))

    def _refund(self, payment: Place, percent: int | None) -> Any:
        mode, before = self._known(payment)
        share = -(-before["amount_captured"] * (percent or 0) // 100) or 1
        amount = None if percent is None else share
        wanted = {} if amount is None else {"amount": amount}
        answer = self.wire.post("/v1/refunds", {"payment": before["id"], **wanted}, mode)
        left = self._left(mode, before)
        if before["status"] != "captured":
            self._refused(answer, "payment_not_refundable", mode)
        elif before["amount_refunded"] == before["amount_captured"]:
            self._refused(answer, "payment_already_refunded", mode)
        elif left == 0:
            self._refused(answer, "payment_disputed", mode)
        elif (amount or left) > left:
            self._refused(answer, "amount_too_large", mode)
        else:
            shown = self._done(answer)
            assert (shown["amount"], shown["status"]) == (amount or left, "pending")
            return self._added(mode, shown, before["id"], before["order"])
        self._settle(mode, before["id"], before["order"])
        return None

    @rule(refund=refunds, good=st.booleans())
    def network_answers(self, refund: Place, good: bool) -> None:
        mode, before = self._known(refund)
        change = {"to": "succeeded" if good else "failed"}
        answer = self.wire.control(f"/refunds/{before['id']}/transition", change, mode)
        if before["status"] == "pending":
            assert self._done(answer)["status"] == change["to"]
        else:
            self._refused(answer, "refund_unexpected_state", mode)
        self._settle(mode, before["id"], before["payment"], before["order"])

    @rule(target=disputes, payment=payments)
    def dispute(self, payment: Place) -> Any:
        mode, before = self._known(payment)
        answer = self.wire.control("/disputes", {"payment": before["id"]}, mode)
        left = self._left(mode, before)
        if self._disputes(mode, before["id"], "needs_response", "under_review") or not left:
            self._refused(answer, "payment_not_disputable", mode)
            return multiple()
        shown = self._done(answer)
        assert (shown["amount"], shown["status"]) == (left, "needs_response")
        return self._added(mode, shown, before["id"])

    @rule(
        dispute=disputes,
        text=st.sampled_from(["", "winning_evidence", "losing_evidence", "a receipt"]),
        submit=st.none() | st.booleans(),
    )
    def answer_dispute(self, dispute: Place, text: str, submit: bool | None) -> None:
        mode, before = self._known(dispute)
        body: Doc = {"evidence": {"uncategorized_text": text}}
        if submit is not None:
            body["submit"] = submit
        answer = self.wire.post(f"/v1/disputes/{before['id']}", body, mode)
        if before["status"] != "needs_response":
            self._refused(answer, "dispute_unexpected_state", mode)
        elif submit and not text:
            self._refused(answer, "evidence_missing", mode)
        else:
            shown = self._done(answer)
            assert shown["evidence"] == ({"uncategorized_text": text} if text else {})
            assert shown["status"] == ("under_review" if submit else "needs_response")
        self._settle(mode, before["id"])

    @rule(dispute=disputes, how=st.sampled_from(["accept", "won", "lost"]))
    def end_dispute(self, dispute: Place, how: str) -> None:
        mode, before = self._known(dispute)
        if how == "accept":
            answer = self.wire.post(f"/v1/disputes/{before['id']}/accept", None, mode)
        else:
            decision = {"outcome": how}
            answer = self.wire.control(f"/disputes/{before['id']}/decide", decision, mode)
        if before["status"] == ("needs_response" if how == "accept" else "under_review"):
            assert self._done(answer)["status"] == ("lost" if how == "accept" else how)
        else:
            self._refused(answer, "dispute_unexpected_state", mode)
        self._settle(mode, before["id"])

    # --- payouts and time -----------------------------------------------------------------------

    @rule(
        target=payouts,
        mode=st.sampled_from(MODES),
        amount=st.integers(1, 200_000_000),
        currency=PRICES,
        source=PRICES,
        end=st.sampled_from(["3000", "3001", "3004"]),
    )
    def send_payout(self, mode: str, amount: int, currency: str, source: str, end: str) -> Any:
        numbers = {
            "3000": "DE89370400440532013000",
            "3001": "DE62370400440532013001",
            "3004": "DE78370400440532013004",
        }
        person = {"country": "DE", "account_holder_name": "Muster GmbH", "iban": numbers[end]}
        body = {
            "amount": amount,
            "currency": currency,
            "source_currency": source,
            "destination": person,
        }
        cost = cost_of_payout(amount, currency, source)
        covered = cost <= self._balances(mode)[source]
        answer = self.wire.post("/v1/payouts", body, mode)
        if not covered:
            self._refused(answer, "balance_insufficient", mode)
            return multiple()
        shown = self._done(answer)
        assert (shown["source_amount"], shown["status"]) == (cost, "created")
        return self._added(mode, shown)

    @rule(payout=payouts, to=st.sampled_from(["sent", "paid", "failed"]))
    def move_payout(self, payout: Place, to: str) -> None:
        mode, before = self._known(payout)
        answer = self.wire.control(f"/payouts/{before['id']}/transition", {"to": to}, mode)
        allowed = NEXT.get(("payout", before["status"]), set())
        if to in allowed:
            assert self._done(answer)["status"] == to
        else:
            self._refused(answer, "payout_unexpected_state", mode)
        self._settle(mode, before["id"])

    @rule(moments=st.integers(1, 3))
    def wait(self, moments: int) -> None:
        for _ in range(moments):
            assert self.wire.advance(until="next")["broken_jobs"] == 0
            for mode in self.docs:
                self._settle(mode)

    # --- the two modes --------------------------------------------------------------------------

    @rule(place=orders | held | payments | refunds | disputes | payouts)
    def look_from_the_other_mode(self, place: Place) -> None:
        mode, doc = self._known(place)
        other = "live" if mode == "test" else "test"
        status, shown = self.wire.ask(path_of(doc), other)
        assert (status, shown["code"]) == (404, "resource_missing")
        if doc["object"] == "payment":
            answer = self.wire.post("/v1/refunds", {"payment": doc["id"]}, other)
            assert (answer[0], answer[1]["param"]) == (404, "payment")

    def teardown(self) -> None:
        """Everything that was ever shown is there and nothing else; events are as they were."""
        if not hasattr(self, "docs"):
            return
        now = moment_of(self.wire.look("/clock")["now"])
        for mode, docs in self.docs.items():
            for noun in PLACES.values():
                listed = self._listed(f"/v1/{noun}", mode)
                wanted = [doc for doc in docs.values() if path_of(doc).startswith(f"/v1/{noun}/")]
                assert {doc["id"]: doc for doc in listed} == {doc["id"]: doc for doc in wanted}
                assert len(listed) == len(wanted)
            for identity, event in self.events[mode].items():
                kept = now - moment_of(event["created"]) < EVENTS_KEPT
                status, shown = self.wire.ask(f"/v1/events/{identity}", mode)
                assert (status, shown) == (200, event) if kept else status == 404

    # --- the model ------------------------------------------------------------------------------

    def _status_of_attempt(self, order: Doc, mode: str, body: Doc, good: bool) -> str:
        """What becomes of an attempt; live mode takes no payments (assumptions: Card behaviour)."""
        if mode == "live" or not good:
            return "failed"
        if "method" in body:
            return "processing"
        return "authorized" if order["capture_method"] == "manual" else "captured"

    def _done(self, answer: tuple[int, Doc]) -> Doc:
        status, shown = answer
        assert status == 200, shown
        return shown

    def _refused(self, answer: tuple[int, Doc], code: str, mode: str) -> None:
        """Refused with this code, and nothing happened."""
        status, shown = answer
        assert (status, shown["code"]) == (400, code), shown
        self._new(shown["request_id"])
        assert self._new_events(mode) == []

    def _known(self, place: Place) -> tuple[str, Doc]:
        mode, identity = place
        return mode, self.docs[mode][identity]

    def _new(self, identity: str) -> None:
        assert identity not in self.ids
        self.ids.add(identity)

    def _added(self, mode: str, doc: Doc, *touched: str) -> Any:
        self._new(doc["id"])
        assert doc["livemode"] == (mode == "live")
        self.docs[mode][doc["id"]] = doc
        self._settle(mode, doc["id"], *touched)
        return mode, doc["id"]

    def _settle(self, mode: str, *touched: str | None) -> None:
        """Looks at all that a step has touched, and at the events and balances."""
        fresh = self._new_events(mode)
        ids = {identity for identity in touched if identity}
        for event in fresh:
            shown = event["data"]["object"]
            ids |= {shown["id"], *(shown[name] for name in ("order", "payment") if name in shown)}
        for identity in ids:
            self._observed(mode, identity)
        for event in fresh:
            shown = event["data"]["object"]
            assert shown == self.docs[mode][shown["id"]], "the event shows another object"
            self._new(f"{event['type']} {shown['id']}")  # no object takes a step twice
            self.events[mode][event["id"]] = event
        self._check_sums(mode, ids)
        assert self._balances(mode) == self._expected(mode)

    def _check_sums(self, mode: str, ids: set[str]) -> None:
        """An order counts what its payments collected, a payment what was refunded of it."""
        docs = self.docs[mode].values()
        for identity in ids:
            doc = self.docs[mode][identity]
            own = [each for each in docs if each.get(doc["object"]) == identity]
            refunds = [r for r in own if r["object"] == "refund" and r["status"] != "failed"]
            if doc["object"] in ("order", "payment"):
                assert doc["amount_refunded"] == sum(refund["amount"] for refund in refunds)
            if doc["object"] == "order":
                parts = [each["amount_captured"] for each in own if each["object"] == "payment"]
                assert doc["amount_captured"] == sum(parts)

    def _observed(self, mode: str, identity: str) -> Doc:
        now = self.wire.get(path_of({"id": identity}), mode)
        before = self.docs[mode].get(identity)
        if before is None:
            self._new(identity)
        else:
            check_step(before, now)
        if now["object"] == "payment":
            check_payment(now, self.fee)
        self.docs[mode][identity] = now
        return now

    def _new_events(self, mode: str) -> list[Doc]:
        """What was emitted since the last look, oldest first, each under an id of its own."""
        page = self.wire.look(f"/events?mode={mode}&limit=30")["data"]
        fresh = [event for event in page if event["id"] not in self.events[mode]]
        for event in fresh:
            assert event["livemode"] == (mode == "live")
            assert "client_secret" not in event["data"]["object"]
        assert len({event["id"] for event in fresh}) == len(fresh)
        return list(reversed(fresh))

    def _disputes(self, mode: str, payment: str, *statuses: str) -> list[Doc]:
        """The disputes of a payment that have one of these statuses."""
        return [
            doc
            for doc in self.docs[mode].values()
            if doc["object"] == "dispute"
            and doc["payment"] == payment
            and doc["status"] in statuses
        ]

    def _left(self, mode: str, payment: Doc) -> int:
        """What is neither refunded nor held or lost by a dispute."""
        held = self._disputes(mode, payment["id"], "needs_response", "under_review", "lost")
        taken = payment["amount_refunded"] + sum(dispute["amount"] for dispute in held)
        return int(payment["amount_captured"] - taken)

    def _balances(self, mode: str) -> dict[str, int]:
        shown = self.wire.look(f"/balances?mode={mode}")["data"]
        return {each["currency"]: each["amount"] for each in shown if each["currency"] in USD}

    def _expected(self, mode: str) -> dict[str, int]:
        """The balances that follow from all objects: nothing appears or vanishes."""
        docs = self.docs[mode]
        change: dict[str, int] = defaultdict(int)
        taken: dict[str, int] = defaultdict(int)
        for doc in docs.values():
            if doc["object"] == "payment" and doc["status"] == "captured":
                change[doc["settlement_currency"]] += doc["settlement_amount"] - (doc["fee"] or 0)
            elif doc["object"] == "payout" and doc["status"] != "failed":
                change[doc["source_currency"]] -= doc["source_amount"]
            elif doc["object"] == "order" and doc["customs"] is not None:
                target = doc["settlement_currency"]
                change[target] -= converted(doc["customs"]["paid"], doc["currency"], target)
            elif (doc["object"], doc["status"]) in TAKING:
                taken[doc["payment"]] += doc["amount"]
        # Of a payment the sum is rounded, not each refund or dispute: two of them would take back a
        # unit more than the capture brought.
        for identity, amount in taken.items():
            payment = docs[identity]
            assert amount <= payment["amount_captured"]
            target = payment["settlement_currency"]
            change[target] -= converted(amount, payment["currency"], target)
        return {name: amount + change[name] for name, amount in self.started[mode].items()}

    def _listed(self, path: str, mode: str) -> list[Doc]:
        found: list[Doc] = []
        more, after = True, ""
        while more:
            page = self.wire.get(f"{path}?limit=100{after}", mode)
            found += page["data"]
            more = page["has_more"]
            after = f"&starting_after={found[-1]['id']}" if found else ""
        return found


def moment_of(text: str) -> datetime:
    return datetime.fromisoformat(text)


def path_of(doc: Doc) -> str:
    return f"/v1/{PLACES[doc['id'].partition('_')[0]]}/{doc['id']}"


def play(wire: Calls, runs: int, steps: int) -> None:
    TwoModeModel.wire = wire
    chosen = settings(
        max_examples=runs,
        stateful_step_count=steps,
        database=None,
        # Without the phase that explains: tracing each line, it took all of the time that a test
        # has, and the story that had failed was never shown.
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(TwoModeModel, settings=chosen)


def test_stories_in_two_modes_go_as_foretold(make_wire: Any) -> None:
    """R87, a short run: every answer is the one that the model foretells, every rule holds."""
    play(make_wire(), runs=5, steps=20)


@pytest.mark.slow(seconds=12)
@pytest.mark.limit(900)  # a story that fails is made shorter for five minutes
def test_many_stories_over_a_socket_go_as_foretold(over_http: Any) -> None:
    """R87: 10 stories of 50 steps over HTTP; 200 with SVC_TEST_LONG=1."""
    play(over_http, runs=OVER_HTTP, steps=50)


@pytest.mark.slow(seconds=25)
@pytest.mark.limit(900)
def test_many_stories_in_two_modes_go_as_foretold(make_wire: Any) -> None:
    """R87: 50 stories of 50 steps; with SVC_TEST_LONG=1 the 2,000 that the promise counts."""
    wire = make_wire()
    play(wire, runs=RUNS, steps=50)
    print(f"\n{RUNS} stories of 50 steps, {wire.calls} requests")
