"""The specification read again, sentence by sentence, and each held against the sandbox's answers.

A second table beside the fidelity table, made without a look at the sandbox's own tests: a row is a
sentence in our words and what shows it. The first sentence that does not hold is named.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

import pytest

from support.sandbox_calls import AsgiSandbox, SandboxAnswer
from support.serving import Postman
from svc.errors import SignatureError
from svc.service import facts
from svc.service.facts import EVENT_TYPES
from svc.signature import verify

Doc = dict[str, Any]
CLOSED: Final = "DE35370400440532013002"
SOFT, STOLEN, CLOSED_CARD = "4000000000008013", "4000000000009979", "4000000000008021"
SHOE: Final = {"name": "Shoe", "hs_code": "6403.99", "origin_country": "CN", "quantity": 2}
JCB: Final = "3566002020360505"
YEN: Final = {"name": "Book", "quantity": 1, "unit_amount": 24000, "hs_code": "4901.10"}
WHOLE: Final[Doc] = {
    "currency": "EUR",
    "amount": 12900,
    "settlement_currency": "GBP",
    "shipping": {"country": "DE", "postal_code": "10115"},
    "items": [{"name": "Jacket", "hs_code": "6203.39", "quantity": 2, "unit_amount": 6450}],
}
KEYS: Final = (
    ("sk_test_", "secret", "test"),
    ("sk_live_", "secret", "live"),
    ("pk_test_", "publishable", "test"),
    ("pk_live_", "publishable", "live"),
    ("rk_test_", "restricted", "test"),
    ("rk_live_", "restricted", "live"),
)
# The tables of endpoints, with what a restricted key needs for each.
OPERATIONS: Final = [
    tuple(line.split())
    for line in """
orders read GET /v1/orders
orders read GET /v1/orders/ord_x
orders write POST /v1/orders
orders write POST /v1/orders/ord_x
orders write POST /v1/orders/ord_x/cancel
payments write POST /v1/orders/ord_x/capture
payments read GET /v1/payments
payments read GET /v1/payments/pay_x
refunds write POST /v1/refunds
refunds read GET /v1/refunds/rf_x
payouts write POST /v1/payouts
payouts read GET /v1/payouts
payouts read GET /v1/payouts/po_x
landed_cost write POST /v1/landed-cost/quotes
landed_cost read GET /v1/landed-cost/quotes/lcq_x
webhook_endpoints write POST /v1/webhook_endpoints
events read GET /v1/events/evt_x
disputes write POST /v1/disputes/dp_x
""".strip().splitlines()
]
TYPES: Final = """order.paid order.cancelled payment.authorized payment.captured payment.failed
refund.succeeded dispute.opened dispute.won dispute.lost payout.paid payout.failed""".split()


class SandboxWorld:
    """A sandbox with one of everything, made once by plain calls."""

    def __init__(self) -> None:
        self.post_office = Postman()
        self.s = AsgiSandbox(sender=self.post_office)
        text = "url=http://127.0.0.1:9/hook"
        types = "".join(f"&events[]={name}" for name in TYPES)
        self.endpoint = self.s.form("/v1/webhook_endpoints", text + types).json
        self.order = self.s.order()
        self.answer = self.s.get(f"/v1/orders/{self.order['id']}")

    def control(self, path: str, body: Any = None, method: str = "POST") -> Any:
        answer = self.s.control(path, body, method)
        assert answer.status == 200, answer.body
        return answer.json

    def trigger(self, kind: str) -> Doc:
        event: Doc = self.control("/events/trigger", {"type": kind})["event"]
        return event

    def advance(self, seconds: int) -> bool:
        self.s.advance(seconds)
        return True

    def set(self, **changes: Any) -> bool:
        self.s.settings(**changes)
        return True

    def status(self, method: str, path: str, **options: Any) -> int:
        return self.s.call(method, path, **options).status

    def refused(self, path: str, body: Any, **options: Any) -> str:
        answer = self.s.post(path, body, **options)
        assert answer.status >= 400
        return str(answer.code)

    @cached_property
    def given(self) -> Doc:
        return self.s.order(**WHOLE)

    @cached_property
    def payment(self) -> Doc:
        return self.s.paid()

    @cached_property
    def held(self) -> Doc:
        """An order whose payment is held, in part captured."""
        order = self.s.order(capture_method="manual")
        self.s.pay(order)
        captured = self.s.form(f"/v1/orders/{order['id']}/capture", "amount=100")
        assert captured.status == 200
        return dict(captured.json)

    @cached_property
    def held_in_full(self) -> Doc:
        order = self.s.order(capture_method="manual")
        self.s.pay(order)
        captured = self.s.form(f"/v1/orders/{order['id']}/capture", "")
        return {**captured.json, "_order": order}

    @cached_property
    def saved(self) -> Doc:
        method: Doc = self.s.pay(self.s.order(), save_card=True).json["payment"]["payment_method"]
        return method

    @cached_property
    def retried(self) -> Doc:
        self.s.settings(smart_retries=True)
        paid = self.s.pay(self.s.order(), SOFT).json["payment"]
        self.s.settings(smart_retries=False)
        return dict(paid)

    @cached_property
    def declined_hard(self) -> bool:
        """Whether stolen cards and closed accounts are not retried where that is turned on."""
        self.s.settings(smart_retries=True)
        answers = [self.s.pay(self.s.order(), number) for number in (STOLEN, CLOSED_CARD)]
        self.s.settings(smart_retries=False)
        ends = [(each.status, each.json["payment"]["retried"]) for each in answers]
        return ends == [(402, False), (402, False)]

    @cached_property
    def refund(self) -> Doc:
        body = {"payment": self.payment["id"], "amount": 100}
        return dict(self.s.post("/v1/refunds", body).json)

    @cached_property
    def payout(self) -> Doc:
        return dict(self.s.post("/v1/payouts", self.s.payout_params).json)

    @cached_property
    def failed_payout(self) -> Doc:
        to = {**self.s.payout_params["destination"], "iban": CLOSED}
        made = self.s.post("/v1/payouts", {**self.s.payout_params, "destination": to}).json
        self.control("/clock/advance", {"seconds": 7 * 86400})
        return self.s.again(made)

    def quote(self, to: str = "DE", **changes: Any) -> Doc:
        items = [{**SHOE, "unit_amount": 5000, **changes}]
        body = {"currency": "EUR", "shipping": {"country": to}, "items": items}
        return dict(self.s.post("/v1/landed-cost/quotes", body).json)

    @cached_property
    def dispute(self) -> Doc:
        return dict(self.control("/disputes", {"payment": self.s.paid()["id"]}))

    @cached_property
    def events(self) -> dict[str, Doc]:
        return {name: self.trigger(name) for name in TYPES}

    def decided(self, outcome: str) -> bool:
        """A dispute goes from a draft, which is edited, through its submission to its end."""
        path = f"/v1/disputes/{self.control('/disputes', {'payment': self.s.paid()['id']})['id']}"
        for number in ("1Z1", "1Z2"):
            draft = self.s.form(path, f"evidence[tracking_number]={number}").json
            assert draft["status"] == "needs_response"
            assert draft["evidence"]["tracking_number"] == number
        sent = self.s.form(path, "evidence[shipping_carrier]=UPS&submit=true").json
        assert sent["status"] == "under_review"
        assert self.s.form(path, "evidence[tracking_number]=1Z3").status == 400
        self.control(f"/disputes/{sent['id']}/decide", {"outcome": outcome})
        last = self.s.events()[-1]
        return bool(
            self.s.again(sent)["status"] == outcome and last["type"] == f"dispute.{outcome}"
        )

    @cached_property
    def delays(self) -> list[int]:
        """Seconds between the attempts of one delivery that is never taken."""
        rows = list(reversed(self.failing.control("/deliveries?limit=100", method="GET")["data"]))
        event = rows[0]["event"]
        moments = [
            datetime.fromisoformat(row["scheduled_at"]) for row in rows if row["event"] == event
        ]
        return [(after - before).seconds for before, after in pairwise(moments)]

    @cached_property
    def failing(self) -> "SandboxWorld":
        """Where four days have gone by and the receiver has taken nothing."""
        box = SandboxWorld()
        box.post_office.codes = [500]
        box.control("/clock", {"mode": "frozen"})
        box.trigger("order.cancelled")
        for _ in range(8):
            box.control("/clock/advance", {"seconds": 86400})
            box.trigger("order.cancelled")
        return box

    def close(self) -> None:
        if "failing" in self.__dict__:
            self.failing.close()
        self.s.close()


def is_error(answer: SandboxAnswer, status: int, code: str | None = None) -> bool:
    shape = {"type", "code", "message"} <= answer.json.keys()
    return shape and answer.status == status and code in (None, answer.code)


def signed(w: SandboxWorld) -> bool:
    """Whether a delivery is signed over its raw bytes, with a time, by the endpoint's secret."""
    sent = w.post_office.sent[-1]
    parts = dict(part.split("=") for part in dict(sent.headers)["Svc-Signature"].split(","))
    secret = w.endpoint["secret"].encode()
    wanted = hmac.new(secret, parts["t"].encode() + b"." + sent.body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(wanted, parts["v1"])


def rolled(w: SandboxWorld, seconds: int) -> int:
    """The status with a key that was rolled, as long before as its grace is."""
    key = w.control("/keys", {"type": "secret"})
    assert w.control(f"/keys/{key['id']}/roll", {"expires_in": seconds})["secret"]
    before = w.status("GET", "/v1/orders", key=key["secret"])
    assert (before == 200) == bool(seconds)
    w.s.advance(seconds)
    return w.status("GET", "/v1/orders", key=key["secret"])


def restricted(w: SandboxWorld, **permissions: str) -> str:
    key: str = w.control("/keys", {"type": "restricted", "permissions": permissions})["secret"]
    return key


def replayed(w: SandboxWorld) -> bool:
    """Whether a POST under one key is carried out once, and anew after 24 hours."""
    body = {"payment": w.s.paid()["id"], "amount": 1}
    first, again = (w.s.post("/v1/refunds", body, idem="one") for _ in range(2))
    assert first.body == again.body
    w.s.advance(24 * 3600 - 1)
    assert w.s.post("/v1/refunds", body, idem="one").body == first.body
    w.s.advance(1)
    return bool(w.s.post("/v1/refunds", body, idem="one").json["id"] != first.json["id"])


def covered(w: SandboxWorld) -> bool:
    order = w.s.order(items=[{**SHOE, "unit_amount": 6450}], amount=12900)
    w.s.pay(order)
    over = order["landed_cost"]["total"] + 500
    customs = w.control(f"/orders/{order['id']}/customs", {"charged": over})["customs"]
    return bool(order["landed_cost"]["guaranteed"] and customs["covered"] == 500)


def fulfilled(w: SandboxWorld) -> bool:
    """Whether neither a decline nor the way back from a bank sends order.paid, and a capture does."""
    order = w.s.order(shipping={"country": "NL"})
    w.s.pay(order, STOLEN)
    w.s.pay(order, method="ideal", outcome="abandon")
    before = [each for each in w.s.events() if each["type"] == "order.paid"]
    w.s.pay(order)
    after = [each for each in w.s.events() if each["type"] == "order.paid"]
    return len(after) == len(before) + 1 and after[-1]["data"]["object"]["id"] == order["id"]


def kept_apart(w: SandboxWorld) -> bool:
    """Whether a live key sees no object of test mode, and no list has one."""
    made = (w.order, w.payment, w.refund, w.payout, w.dispute, w.quote(), w.events["order.paid"])
    return all(
        w.status("GET", w.s.path_of(each), key=key) == status
        for each in made
        for key, status in ((w.s.secret, 200), (w.s.live, 404))
    ) and all(
        w.s.call("GET", f"/v1/{noun}", key=w.s.live).json["data"] == []
        for noun in ("orders", "payments", "refunds", "payouts", "disputes")
    )


def met(w: SandboxWorld, key: str | None) -> set[int]:
    """What each operation answers to a key."""
    return {w.status(method, path, key=key) for _, _, method, path in OPERATIONS}


def issued(w: SandboxWorld, kind: str, mode: str, prefix: str) -> bool:
    body = {"type": kind, "mode": mode, **({"permissions": {}} if kind == "restricted" else {})}
    key: str = w.control("/keys", body)["secret"]
    status = w.status("POST", "/v1/landed-cost/quotes", key=key)
    return key.startswith(prefix) and status == (400 if kind == "secret" else 403)


def allowed(w: SandboxWorld, resource: str, level: str) -> bool:
    """Whether a key of one permission is let to what that is for, and to nothing else."""
    key = restricted(w, **{resource: level})
    return all(
        (w.status(method, path, key=key) != 403) == (of == resource and needed in ("read", level))
        for of, needed, method, path in OPERATIONS
    )


def taken_once(w: SandboxWorld) -> bool:
    """Whether each POST, sent twice under one key, has one answer and one effect."""
    held, more = (w.s.paid(capture_method="manual") for _ in range(2))
    dispute = w.control("/disputes", {"payment": w.s.paid()["id"]})
    bodies: list[tuple[str, Any]] = [
        ("/v1/orders", w.s.order_params),
        (f"/v1/orders/{w.s.order()['id']}", {"amount": 7}),
        (f"/v1/orders/{more['order']}/cancel", {}),
        (f"/v1/orders/{held['order']}/capture", {"amount": 100}),
        ("/v1/refunds", {"payment": held["id"], "amount": 1}),
        ("/v1/payouts", w.s.payout_params),
        ("/v1/landed-cost/quotes", w.s.quote_params),
        ("/v1/webhook_endpoints", {"url": "https://shop.example/", "events": TYPES}),
        (f"/v1/disputes/{dispute['id']}", {"evidence": {"receipt": "r"}}),
    ]
    twice = [[w.s.post(path, body, idem=path).body for _ in range(2)] for path, body in bodies]
    return all(one == two for one, two in twice) and w.s.again(held)["amount_refunded"] == 1


def paged(w: SandboxWorld, noun: str) -> bool:
    """Whether a list has 25 objects by default, 1 to 100 where asked, and goes on behind an id."""
    path, payment = f"/v1/{noun}", w.s.paid()["id"]
    make: dict[str, Callable[[], Any]] = {
        "orders": w.s.order,
        "payments": w.s.paid,
        "refunds": lambda: w.s.post("/v1/refunds", {"payment": payment, "amount": 1}),
        "payouts": lambda: w.s.post("/v1/payouts", {**w.s.payout_params, "amount": 1}),
    }
    for _ in range(26):
        make[noun]()
    statuses = [w.s.get(path, limit=each).status for each in (0, 1, 100, 101, "x")]
    every = [each["id"] for each in w.s.get(path, limit=100).json["data"]]
    first = w.s.get(path).json
    rest = w.s.get(path, limit=100, starting_after=first["data"][-1]["id"]).json
    shown = [each["id"] for part in (first, rest) for each in part["data"]]
    return (
        statuses == [400, 200, 200, 400, 400]
        and (len(first["data"]), first["has_more"], rest["has_more"]) == (25, True, False)
        and shown == every
    )


def delivered_as_shown(w: SandboxWorld) -> bool:
    event = w.trigger("payment.failed")
    w.advance(0)
    (sent,) = (each.body for each in w.post_office.sent if event["id"].encode() in each.body)
    return bool(json.loads(sent) == w.s.get(f"/v1/events/{event['id']}").json)


def answered(w: SandboxWorld, code: int) -> str:
    """What becomes of a delivery whose receiver answers so."""
    w.post_office.codes = [code]
    event = w.trigger("order.cancelled")["id"]
    w.advance(0)
    w.post_office.codes = [200]
    rows = w.control("/deliveries?limit=100", method="GET")["data"]
    return str(next(row["status"] for row in reversed(rows) if row["event"] == event))


def rejected_when_old(w: SandboxWorld) -> bool:
    """Whether the helper takes a delivery for 300 seconds and no longer."""
    w.trigger("order.cancelled")
    w.advance(0)
    sent = w.post_office.sent[-1]
    header, secrets = dict(sent.headers)["Svc-Signature"], [w.endpoint["secret"]]
    at = int(header.partition(",")[0].removeprefix("t="))
    verify(sent.body, [header], secrets, now=at + 300)
    with pytest.raises(SignatureError):
        verify(sent.body, [header], secrets, now=at + 301)
    return True


def page(w: SandboxWorld, **query: str) -> SandboxAnswer:
    text = "&".join(f"{name}={value}" for name, value in query.items())
    return w.s.call("GET", f"/checkout/{w.order['client_secret']}?{text}", key=None)


SentenceRow = tuple[str, Callable[[SandboxWorld], Any]]
PURPOSE: Final[list[SentenceRow]] = [
    ("The root is /v1.", lambda w: w.answer.status == 200),
    ("One address has both modes.", lambda w: w.status("GET", "/v1/orders", key=w.s.live) == 200),
    ("Svc stands in names of headers.", lambda w: "svc-version" in w.answer.headers),
    ("Bodies are JSON.", lambda w: "application/json" in w.answer.headers["content-type"]),
    ("Status codes are HTTP's.", lambda w: w.status("GET", "/v1/orders/ord_none") == 404),
    ("An order has amount and currency.", lambda w: {"amount", "currency"} <= w.order.keys()),
    ("An order has items and destination.", lambda w: w.order["items"] and w.order["shipping"]),
    ("It picks payment methods.", lambda w: len(w.order["methods"]) > 1),
    ("It quotes duties and taxes.", lambda w: w.order["landed_cost"]["duty"] > 0),
    ("It routes the payment.", lambda w: w.payment["status"] == "captured"),
    (
        "The checkout takes secret and publishable key.",
        lambda w: [page(w).status, page(w, key=w.s.publishable).status] == [403, 200],
    ),
    ("It shows the methods.", lambda w: b"SEPA" in page(w, key=w.s.publishable).body),
    ("It has the shopper's language.", lambda w: b'lang="de"' in page(w, key=w.s.publishable).body),
    (
        "It shows the duty-inclusive total.",
        lambda w: (
            f"{w.order['amount_total'] // 100},".encode() in page(w, key=w.s.publishable).body
        ),
    ),
    ("Payments are captured automatically.", lambda w: w.payment["amount_captured"] > 0),
    ("Or manually, in part.", lambda w: w.held["amount_captured"] == 100),
    (
        "Or manually, in full.",
        lambda w: w.held_in_full["amount_captured"] == w.held_in_full["_order"]["amount_total"],
    ),
    ("A refund returns a part.", lambda w: w.refund["amount"] == 100),
    (
        "A refund returns all.",
        lambda w: (
            w.s.post("/v1/refunds", {"payment": (p := w.s.paid())["id"]}).json["amount"]
            == p["amount_captured"]
        ),
    ),
    ("Payouts go to banks.", lambda w: w.payout["destination"]["country"] == "DE"),
    ("Quotes have duty.", lambda w: w.quote()["duty"] > 0),
    ("Quotes have taxes.", lambda w: w.quote()["vat"] > 0),
    ("Quotes have fees.", lambda w: w.quote(to="CA")["fees"] > 0),
    ("A quote can be guaranteed.", lambda w: w.quote()["guaranteed"] is True),
    ("The service then covers any excess.", covered),
    ("Disputes are answered with evidence.", lambda w: w.decided("won")),
    (
        "Events are sent when things change.",
        lambda w: w.payment and w.advance(1) and w.post_office.sent,
    ),
    ("Fulfilment follows order.paid, not the redirect.", fulfilled),
    ("Modes are kept apart.", kept_apart),
    (
        "No money moves in test mode.",
        lambda w: (
            (before := w.control("/balances?mode=live", method="GET"))
            and w.payment
            and w.payout
            and w.control("/balances?mode=live", method="GET") == before
        ),
    ),
    ("Cards are saved as network tokens.", lambda w: w.saved["card"]["network_token"] == "active"),
    (
        "Where available.",
        lambda w: (
            w.s.pay(w.s.order(), JCB, save_card=True).json["payment"]["payment_method"]["card"][
                "network_token"
            ]
            != "active"
        ),
    ),
    (
        "Smart retries are off.",
        lambda w: w.s.pay(w.s.order(), SOFT).json["payment"]["retried"] is False,
    ),
    ("Turned on, a soft decline is retried.", lambda w: w.retried["retried"] is True),
    ("Through another acquirer in the region.", lambda w: "_eu_" in w.retried["acquirer"]),
    (
        "Once, and within the session: one payment.",
        lambda w: (
            [w.retried["id"]]
            == [
                each["id"]
                for each in w.s.get("/v1/payments", order=w.retried["order"]).json["data"]
            ]
        ),
    ),
    ("Hard declines are never retried.", lambda w: w.declined_hard),
]
CONVENTIONS: Final[list[SentenceRow]] = [
    (
        "Amounts are integers.",
        lambda w: w.refused("/v1/orders", {**w.s.order_params, "amount": 1.5}),
    ),
    (
        "Yen are whole.",
        lambda w: (
            w.s.paid(currency="JPY", amount=24000, shipping={"country": "US"}, items=[YEN])[
                "settlement_amount"
            ]
            == 24000 * 68 // 100
        ),
    ),
    (
        "Currencies are ISO 4217 in upper case.",
        lambda w: all(
            w.refused("/v1/orders", {**w.s.order_params, "currency": code})
            for code in ("eur", "EU", "XQZ")
        ),
    ),
    (
        "Countries are ISO 3166-1, two letters.",
        lambda w: all(
            w.refused("/v1/orders", {**w.s.order_params, "shipping": {"country": code}})
            for code in ("de", "DEU", "ZQ")
        ),
    ),
    (
        "Times are ISO 8601 in UTC.",
        lambda w: all(
            re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", each["created"])
            for each in (w.order, w.payment, w.refund, w.payout, w.quote(), w.dispute)
        ),
    ),
    ("ord_", lambda w: w.order["id"].startswith("ord_")),
    ("pay_", lambda w: w.payment["id"].startswith("pay_")),
    ("rf_", lambda w: w.refund["id"].startswith("rf_")),
    ("po_", lambda w: w.payout["id"].startswith("po_")),
    ("lcq_", lambda w: w.quote()["id"].startswith("lcq_")),
    ("evt_", lambda w: w.events["order.paid"]["id"].startswith("evt_")),
    ("pm_", lambda w: w.saved["id"].startswith("pm_")),
    ("dp_", lambda w: w.dispute["id"].startswith("dp_")),
    (
        "Objects have their type in object.",
        lambda w: (
            [each["object"] for each in (w.order, w.payment, w.refund, w.payout, w.dispute)]
            == ["order", "payment", "refund", "payout", "dispute"]
        ),
    ),
    ("Lists too.", lambda w: w.s.get("/v1/orders").json["object"] == "list"),
]
FIELDS: Final[list[SentenceRow]] = [
    *(
        (f"An order has {name}.", lambda w, name=name: name in w.order)
        for name in "id object status capture_method methods landed_cost".split()
    ),
    *(
        (f"It has {name} as given.", lambda w, name=name: w.given[name] == WHOLE[name])
        for name in "amount currency settlement_currency shipping".split()
    ),
    ("requires_payment at first.", lambda w: w.order["status"] == "requires_payment"),
    *(
        (
            f"An item has {name} as given.",
            lambda w, name=name: w.given["items"][0][name] == WHOLE["items"][0][name],
        )
        for name in ("name", "hs_code", "quantity", "unit_amount")
    ),
    (
        "A code may be incomplete.",
        lambda w: w.s.order(items=[{**SHOE, "unit_amount": 1, "hs_code": "64"}]),
    ),
    (
        "manual authorises first.",
        lambda w: (
            (held := w.s.paid(capture_method="manual"))["status"] == "authorized"
            and held["amount_captured"] == 0
        ),
    ),
    ("client_secret comes at creation.", lambda w: "_secret_" in w.order["client_secret"]),
    ("And never again.", lambda w: "client_secret" not in w.answer.json),
    ("card is offered.", lambda w: "card" in w.order["methods"]),
    ("sepa_debit is offered.", lambda w: "sepa_debit" in w.order["methods"]),
    ("So are local methods.", lambda w: set(w.order["methods"]) - {"card", "sepa_debit"}),
    *(
        (f"Landed cost has {name}.", lambda w, name=name: name in w.order["landed_cost"])
        for name in ("duty", "vat", "currency")
    ),
    *(
        (f"A payment has {name}.", lambda w, name=name: name in w.payment)
        for name in ("id", "amount_captured", "retried", "acquirer")
    ),
    ("A saved method has type card.", lambda w: w.saved["type"] == "card"),
    ("And a brand.", lambda w: w.saved["card"]["brand"] == "visa"),
    ("And its last four.", lambda w: w.saved["card"]["last4"] == "4242"),
    ("A payout has its rate.", lambda w: w.payout["fx_rate"] > 0),
    ("And its source amount.", lambda w: w.payout["source_amount"] > 0),
    ("And network fees.", lambda w: w.payout["network_fees"] > 0),
    ("And why it failed.", lambda w: w.failed_payout["failure_reason"] == "account_closed"),
    ("A quote says guaranteed.", lambda w: w.quote(hs_code="64")["guaranteed"] is False),
    (
        "A short code is warned of.",
        lambda w: w.quote(hs_code="64")["warnings"][0]["code"] == "hs_code_incomplete",
    ),
    ("With its item.", lambda w: isinstance(w.quote(hs_code="64")["warnings"][0]["item"], str)),
    ("An unknown origin is one too.", lambda w: w.quote(origin_country=None)["warnings"]),
    ("Warnings only then.", lambda w: "warnings" not in w.quote()),
    ("A dispute has its deadline.", lambda w: w.dispute["evidence_due_by"].endswith("Z")),
    ("And evidence.", lambda w: "evidence" in w.dispute),
    *(
        (f"An event has {name}.", lambda w, name=name: name in w.events["order.paid"])
        for name in ("id", "type", "created", "livemode", "data")
    ),
    ("livemode is false in test.", lambda w: w.events["order.paid"]["livemode"] is False),
    (
        "It carries the object.",
        lambda w: w.events["order.paid"]["data"]["object"]["status"] == "paid",
    ),
    ("An endpoint has url and types.", lambda w: set(w.endpoint["events"]) == set(TYPES)),
    ("And a secret.", lambda w: w.endpoint["secret"].startswith("whsec_")),
    ("A list has data.", lambda w: w.s.get("/v1/orders").json["data"]),
    ("And has_more.", lambda w: w.s.get("/v1/orders", limit=1).json["has_more"] is True),
]
STATES: Final[list[SentenceRow]] = [
    (
        "A capture pays the order.",
        lambda w: w.s.get(f"/v1/orders/{w.payment['order']}").json["status"] == "paid",
    ),
    ("A dispute is won.", lambda w: w.decided("won")),
    ("Or lost.", lambda w: w.decided("lost")),
    (
        "Only an unpaid order is updated.",
        lambda w: w.refused(f"/v1/orders/{w.payment['order']}", {"amount": 1}),
    ),
    (
        "Cancelling emits order.cancelled.",
        lambda w: (
            w.s.post(f"/v1/orders/{w.s.order()['id']}/cancel").status == 200
            and w.s.events()[-1]["type"] == "order.cancelled"
        ),
    ),
    (
        "A partial capture releases the rest at once.",
        lambda w: w.held["amount_released"] == w.held["amount"] - 100,
    ),
    ("A payout is created.", lambda w: w.payout["status"] == "created"),
    (
        "Then sent, then accepted.",
        lambda w: (
            [
                w.control(f"/payouts/{w.payout['id']}/transition", {"to": to})["status"]
                for to in ("sent", "paid")
            ]
            == ["sent", "paid"]
        ),
    ),
    ("Or it fails.", lambda w: w.failed_payout["status"] == "failed"),
]
ENDPOINTS: Final[list[SentenceRow]] = [
    ("POST /v1/orders", lambda w: w.order["id"]),
    ("GET /v1/orders/:id", lambda w: w.answer.status == 200),
    (
        "POST /v1/orders/:id",
        lambda w: w.s.post(f"/v1/orders/{w.s.order()['id']}", {"amount": 7}).json["amount"] == 7,
    ),
    (
        "POST /v1/orders/:id/cancel",
        lambda w: w.s.post(f"/v1/orders/{w.s.order()['id']}/cancel").json["status"] == "cancelled",
    ),
    (
        "GET /v1/orders",
        lambda w: w.s.order()["id"] == w.s.get("/v1/orders").json["data"][0]["id"],
    ),
    ("POST /v1/orders/:id/capture", lambda w: w.held["object"] == "payment"),
    ("POST /v1/refunds", lambda w: w.refund["payment"] == w.payment["id"]),
    ("POST /v1/payouts", lambda w: w.payout["id"]),
    ("POST /v1/landed-cost/quotes", lambda w: w.quote()["object"] == "landed_cost_quote"),
    ("POST /v1/webhook_endpoints", lambda w: w.endpoint["url"] == "http://127.0.0.1:9/hook"),
    ("POST /v1/disputes/:id", lambda w: w.decided("lost")),
    ("Each POST takes an Idempotency-Key.", taken_once),
    *(
        (f"/v1/{noun} is listed by pages.", lambda w, noun=noun: paged(w, noun))
        for noun in ("orders", "payments", "refunds", "payouts")
    ),
    ("GET /v1/payments/:id", lambda w: w.s.again(w.payment)["id"] == w.payment["id"]),
    ("GET /v1/payments", lambda w: w.s.get("/v1/payments").json["data"]),
    ("GET /v1/refunds/:id", lambda w: w.s.again(w.refund)["id"] == w.refund["id"]),
    ("GET /v1/refunds", lambda w: w.s.get("/v1/refunds").json["data"]),
    ("GET /v1/payouts/:id", lambda w: w.s.again(w.payout)["id"] == w.payout["id"]),
    ("GET /v1/payouts", lambda w: w.s.get("/v1/payouts").json["data"]),
    ("GET /v1/landed-cost/quotes/:id", lambda w: w.s.again(q := w.quote())["id"] == q["id"]),
    (
        "GET /v1/events/:id",
        lambda w: (
            w.s.get(f"/v1/events/{w.events['order.paid']['id']}").json["type"] == "order.paid"
        ),
    ),
    (
        "Capture is for manual orders.",
        lambda w: w.refused(f"/v1/orders/{w.payment['order']}/capture", None),
    ),
    (
        "A new quote is guaranteed once mended.",
        lambda w: [w.quote(hs_code="64")["guaranteed"], w.quote()["guaranteed"]] == [False, True],
    ),
    (
        "Receivers elsewhere have HTTPS.",
        lambda w: w.refused(
            "/v1/webhook_endpoints", {"url": "http://shop.example/", "events": TYPES}
        ),
    ),
]
AUTH: Final[list[SentenceRow]] = [
    (
        "The key is the name of basic auth.",
        lambda w: (
            w.status(
                "GET",
                "/v1/orders",
                key=None,
                headers={"authorization": "Basic c2tfdGVzdF9zYW5kYm94Og=="},
            )
            == 200
        ),
    ),
    ("Or a bearer.", lambda w: w.status("GET", "/v1/orders") == 200),
    ("Without one: 401, whatever is asked.", lambda w: met(w, None) == {401}),
    *(
        (
            f"{prefix} is a {kind} key of {mode} mode.",
            lambda w, made=(kind, mode, prefix): issued(w, *made),
        )
        for prefix, kind, mode in KEYS
    ),
    (
        "Over plain HTTP: 401.",
        lambda w: (
            w.set(insecure_http="reject")
            and w.status("GET", "/v1/orders") == 401
            and w.status("GET", "/v1/orders", scheme="https") == 200
            and w.set(insecure_http="allow")
        ),
    ),
    ("Publishable keys read and change nothing.", lambda w: met(w, w.s.publishable) == {403}),
    *(
        (
            f"A restricted key may {level} {resource} alone.",
            lambda w, may=(resource, level): allowed(w, *may),
        )
        for resource in sorted({each[0] for each in OPERATIONS})
        for level in ("read", "write")
    ),
    (
        "And is refused the rest.",
        lambda w: is_error(
            w.s.post("/v1/orders", w.s.order_params, key=restricted(w, orders="read")),
            403,
            "permission_denied",
        ),
    ),
    ("A rolled key may end at once.", lambda w: rolled(w, 0) == 401),
    ("Or works for a grace period.", lambda w: rolled(w, 3600) == 401),
    ("Of seven days at most.", lambda w: rolled(w, 7 * 86400) == 401),
    (
        "Not longer.",
        lambda w: (
            w.s.control(
                f"/keys/{w.control('/keys', {'type': 'secret'})['id']}/roll",
                {"expires_in": 7 * 86400 + 1},
            ).status
            == 400
        ),
    ),
    (
        "Signing secrets stay then.",
        lambda w: rolled(w, 0) and w.trigger("order.paid") and w.advance(0) and signed(w),
    ),
    (
        "They are rolled apart.",
        lambda w: w.control(f"/webhook_endpoints/{w.endpoint['id']}/roll_secret", {})["secret"],
    ),
]
EVENTS: Final[list[SentenceRow]] = [
    *((f"{name} is sent.", lambda w, name=name: w.events[name]["type"] == name) for name in TYPES),
    (
        "payment.captured has what was captured.",
        lambda w: w.events["payment.captured"]["data"]["object"]["amount_captured"] > 0,
    ),
    (
        "payout.failed says why.",
        lambda w: w.events["payout.failed"]["data"]["object"]["failure_reason"],
    ),
    ("There are 18 types.", lambda w: len(EVENT_TYPES) == 18 and set(TYPES) < set(EVENT_TYPES)),
    (
        "A delivery is signed over its raw bytes.",
        lambda w: w.trigger("order.cancelled") and w.advance(0) and signed(w),
    ),
    ("It is what a GET of the event shows.", delivered_as_shown),
    (
        "Anything but 2xx is a failure.",
        lambda w: (
            [answered(w, code) for code in (200, 204, 301, 400, 500)]
            == ["succeeded", "succeeded", "failed", "failed", "failed"]
        ),
    ),
    ("The receiver has 10 seconds.", lambda w: facts.WEBHOOK_DEADLINE_SECONDS == 10),
    ("What is older than five minutes is rejected.", rejected_when_old),
    (
        "A minute, ten, an hour, then six hours.",
        lambda w: w.delays == [60, 600, 3600] + [21600] * 11,
    ),
    ("For three days.", lambda w: sum(w.delays) <= 3 * 86400 < sum(w.delays) + 21600),
    (
        "A mail tells of an endpoint that keeps failing.",
        lambda w: w.failing.control("/emails", method="GET")["data"],
    ),
    (
        "It is disabled in the end.",
        lambda w: (
            w.failing.control("/webhook_endpoints", method="GET")["data"][0]["status"] == "disabled"
        ),
    ),
    (
        "Events may come out of order.",
        lambda w: (
            w.control("/webhook_faults", {"effect": "reorder", "count": 2})
            and (ids := [w.trigger("order.cancelled")["id"] for _ in range(2)])
            and w.advance(0)
            and [json.loads(each.body)["id"] for each in w.post_office.sent[-2:]] == ids[::-1]
        ),
    ),
    (
        "Only subscribed types come.",
        lambda w: {json.loads(each.body)["type"] for each in w.post_office.sent} <= set(TYPES),
    ),
    (
        "An event may come twice.",
        lambda w: (
            w.control("/webhook_faults", {"effect": "duplicate"})
            and w.trigger("order.cancelled")
            and w.advance(0)
            and w.post_office.sent[-1].body == w.post_office.sent[-2].body
        ),
    ),
]
ERRORS: Final[list[SentenceRow]] = [
    ("401 has the shape.", lambda w: is_error(w.s.call("GET", "/v1/orders", key=None), 401)),
    ("404 has it.", lambda w: is_error(w.s.get("/v1/orders/ord_none"), 404)),
    (
        "429 exists.",
        lambda w: (
            w.control("/faults", {"effect": {"status": 429}})
            and is_error(w.s.get("/v1/orders"), 429)
        ),
    ),
    (
        "5xx exist.",
        lambda w: (
            w.control("/faults", {"effect": {"status": 503}})
            and is_error(w.s.get("/v1/orders"), 503)
        ),
    ),
    ("A key makes one refund, for 24 hours.", replayed),
    ("A version is pinned.", lambda w: w.control("/settings", method="GET")["pinned_version"]),
    (
        "Another is tried for one request.",
        lambda w: (
            w.s.call("GET", "/v1/orders", headers={"svc-version": "2026-03-01"}).headers[
                "svc-version"
            ]
            == "2026-03-01"
        ),
    ),
    (
        "It is a date as YYYY-MM-DD.",
        lambda w: (
            {
                w.status("GET", "/v1/orders", headers={"svc-version": text})
                for text in ("newest", "2026-3-1", "26-03-01", "2026-13-01")
            }
            == {400}
        ),
    ),
    (
        "The next request is in the pinned version again.",
        lambda w: (
            w.s.get("/v1/orders").headers["svc-version"]
            == w.control("/settings", method="GET")["pinned_version"]
        ),
    ),
]
TABLE: Final = {
    "purpose": PURPOSE,
    "conventions": CONVENTIONS,
    "fields": FIELDS,
    "states": STATES,
    "endpoints": ENDPOINTS,
    "authentication": AUTH,
    "events": EVENTS,
    "errors, limits, versions": ERRORS,
}


@pytest.fixture
def world() -> Iterator[SandboxWorld]:
    made = SandboxWorld()
    yield made
    made.close()


@pytest.mark.parametrize("section", TABLE)
def test_every_sentence_holds(world: SandboxWorld, section: str) -> None:
    """R80: what the specification says of a subject, all of it."""
    broken = [words for words, holds in TABLE[section] if not holds(world)]
    assert broken == []


def test_no_sentence_is_lost() -> None:
    assert sum(len(rows) for rows in TABLE.values()) == 211
