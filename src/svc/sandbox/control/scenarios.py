"""Makes an event of any type happen, with ready-made objects, by the API's own steps.

`svc sandbox trigger` calls `trigger` by its control: a type of event in, the event and the objects
that were made for it out. `fixtures` builds its example objects with the functions.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from svc.sandbox.jobs import handlers
from svc.sandbox.parameters.bodies import DecodedInput
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.parameters.tables import check, coerce, refuse_unknown
from svc.sandbox.reference import cards
from svc.sandbox.resources import disputes, orders, payments, payouts, refunds, shopper
from svc.sandbox.resources.operation import ApiOperation
from svc.sandbox.store import events
from svc.sandbox.store.documents import Doc, decode, public
from svc.sandbox.store.transaction import Transaction

DECLINED: Final = "4000000000000002"


def create_order(tx: Transaction, changes: Mapping[str, Any]) -> Doc:
    """An unpaid order, with parameters changed; raises Problem: they are invalid."""
    return orders.create(tx, _params(tx, orders.OPERATIONS, changes))


def create_payout(tx: Transaction, changes: Mapping[str, Any]) -> Doc:
    """A created payout, with parameters changed; raises Problem: they are invalid."""
    return payouts.create(tx, _params(tx, payouts.OPERATIONS, changes))


def attempt(tx: Transaction, unpaid: Doc, number: str = cards.APPROVED["visa"]) -> Doc:
    """Pays an order by card and returns the payment, whatever became of it."""
    year = tx.now.year + cards.YEARS_GOOD
    card = {"number": number, "exp_month": 12, "exp_year": year, "cvc": "123"}
    shopper.pay(tx, {"client_secret": unpaid["_client_secret"], "card": card})
    return find_latest_payment(tx, unpaid)


def find_latest_payment(tx: Transaction, new_order: Doc) -> Doc:
    """The last attempt to pay an order."""
    return payments.find_latest(tx, reload(tx, new_order))


def create_refund(tx: Transaction, payment: Doc, amount: int | None = None) -> Doc:
    """A pending refund."""
    wanted = {} if amount is None else {"amount": amount}
    return refunds.create(tx, {"payment": payment["id"], **wanted})


def create_dispute(tx: Transaction, payment: Doc) -> Doc:
    """A dispute that waits for an answer."""
    return disputes.open_dispute(tx, reload(tx, payment), "product_not_received")


def reload(tx: Transaction, doc: Doc) -> Doc:
    """The document as it is stored now."""
    return tx.stored(doc["object"], doc["id"])


def _params(
    tx: Transaction, operations: Iterable[ApiOperation], changes: Mapping[str, Any]
) -> dict[str, Any]:
    """The body of the creation's example with changes; those of a command line are text."""
    fields, example = next((each.fields, each.example) for each in operations if each.example)
    coerced = coerce(fields, DecodedInput({**(example or {}), **changes}, textual=True))
    refuse_unknown(fields, coerced)
    return check(fields, coerced, tx.settings)


Changes = Mapping[str, Any]
_EVIDENCE: Final = {"evidence": {"tracking_number": "00340434161094042557"}, "submit": True}


class Scenario:
    """The steps that lead to an event, named by the state that each brings about.

    `made` are the objects that were made on the way, in their order.

    `changes` are parameters of the order, or of the payout, that the story begins with.
    """

    def __init__(self, tx: Transaction, changes: Changes) -> None:
        self.tx = tx
        self.made: list[Doc] = []
        self._changes = changes

    def order(self, **fixed: Any) -> Doc:
        return self._add(create_order(self.tx, {**self._changes, **fixed}))

    def paid(self) -> Doc:
        """The captured payment of a new order."""
        payment = self._attempt(self.order())
        if payment["status"] != "captured":
            raise _not_triggered(
                "No payment was captured: live mode takes none, a manual order only holds it."
            )
        return payment

    def held(self) -> Doc:
        """A new order whose money is held."""
        order = self.order(capture_method="manual")
        self._attempt(order)
        return reload(self.tx, order)

    def declined(self) -> None:
        self._attempt(self.order(), DECLINED)

    def processing(self) -> None:
        """A delayed debit whose result is open."""
        order = self.order()
        debit = {"client_secret": order["_client_secret"], "method": "sepa_debit"}
        shopper.pay(self.tx, debit)
        self._add(find_latest_payment(self.tx, order))

    def cancelled(self, order: Doc) -> None:
        orders.cancel(self.tx, order, {})

    def refund(self) -> Doc:
        return self._add(create_refund(self.tx, self.paid()))

    def finished_refund(self, failure_reason: str | None) -> None:
        handlers.finish_refund(self.tx, self.refund(), failure_reason)

    def disputed(self) -> Doc:
        return self._add(create_dispute(self.tx, self.paid()))

    def answered(self) -> Doc:
        """A dispute whose evidence is under review."""
        return disputes.update(self.tx, self.disputed(), _EVIDENCE)

    def decided(self, outcome: str) -> None:
        disputes.close(self.tx, self.answered(), outcome)

    def payout(self) -> Doc:
        return self._add(create_payout(self.tx, self._changes))

    def sent(self) -> Doc:
        payout = self.payout()
        payouts.send(self.tx, payout)
        return payout

    def arrived(self) -> None:
        payouts.arrive(self.tx, self.sent())

    def rejected(self) -> None:
        payouts.fail(self.tx, self.sent(), "account_closed")

    def _attempt(self, order: Doc, number: str = cards.APPROVED["visa"]) -> Doc:
        return self._add(attempt(self.tx, order, number))

    def _add(self, doc: Doc) -> Doc:
        self.made.append(doc)
        return doc


SCENARIOS: Final[Mapping[str, Callable[[Scenario], object]]] = {
    "order.paid": Scenario.paid,
    "order.cancelled": lambda story: story.cancelled(story.order()),
    "payment.authorized": Scenario.held,
    "payment.captured": Scenario.paid,
    "payment.failed": Scenario.declined,
    "payment.processing": Scenario.processing,
    "payment.cancelled": lambda story: story.cancelled(story.held()),
    "refund.created": Scenario.refund,
    "refund.succeeded": lambda story: story.finished_refund(None),
    "refund.failed": lambda story: story.finished_refund("declined"),
    "dispute.opened": Scenario.disputed,
    "dispute.evidence_submitted": Scenario.answered,
    "dispute.won": lambda story: story.decided("won"),
    "dispute.lost": lambda story: story.decided("lost"),
    "payout.created": Scenario.payout,
    "payout.sent": Scenario.sent,
    "payout.paid": Scenario.arrived,
    "payout.failed": Scenario.rejected,
}


def trigger(tx: Transaction, event_type: str, changes: Changes) -> Doc:
    """Creates the objects that an event needs, makes it happen, and returns it with them.

    `changes` are parameters of the order, or of the payout, that is created for it.

    Raises:
        Problem: the parameters are not in order, or the event cannot happen in this mode.
    """
    noun = event_type.partition(".")[0]
    others = [way for kind, way in SCENARIOS.items() if kind.startswith(f"{noun}.")]
    for way in [SCENARIOS[event_type]] if event_type in SCENARIOS else others:
        before, story = tx.emitted, Scenario(tx, changes)
        way(story)
        fresh = tx.emitted - before
        rows, _ = events.page(
            tx.store, tx.mode, tx.now_micros, event_type=None, limit=fresh, after=None
        )
        emitted = [decode(row) for row in rows]
        event = next((one for one in emitted if one["type"] == event_type), None)
        if event is not None:
            break
    else:
        raise _not_triggered(
            f"{event_type} cannot be triggered like this; live mode takes no payments."
        )
    return {
        "object": "trigger",
        "type": event_type,
        "event": event,
        "created": [public(reload(tx, doc)) for doc in story.made],
        "events": [{"id": one["id"], "type": one["type"]} for one in reversed(emitted)],
        "livemode": tx.livemode,
    }


def _not_triggered(message: str) -> Problem:
    return Problem(400, "event_not_triggered", message, param="type")
