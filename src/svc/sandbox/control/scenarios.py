"""Making an event of any type happen for real, with ready-made objects, by the API's own steps."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from svc.sandbox.clock import micros
from svc.sandbox.jobs import handlers
from svc.sandbox.parameters.bodies import DecodedInput
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.parameters.tables import Fields, check, coerce, refuse_unknown
from svc.sandbox.resources import disputes, orders, payments, payouts, refunds, shopper
from svc.sandbox.store import events
from svc.sandbox.store.documents import Doc, decode, public
from svc.sandbox.store.transaction import Transaction

APPROVED: Final = "4242424242424242"
DECLINED: Final = "4000000000000002"
_YEARS: Final = 3  # until a sample card expires


def new_order(world: Transaction, changes: Mapping[str, Any]) -> Doc:
    """An unpaid order, with parameters changed; raises Problem if they are not in order."""
    return orders.create(world, _params(world, orders.CREATE, {**orders.EXAMPLE, **changes}))


def new_payout(world: Transaction, changes: Mapping[str, Any]) -> Doc:
    """A created payout, with parameters changed; raises Problem if they are not in order."""
    return payouts.create(world, _params(world, payouts.CREATE, {**payouts.EXAMPLE, **changes}))


def attempt(world: Transaction, unpaid: Doc, number: str = APPROVED) -> Doc:
    """Pays an order by card and returns the payment, whatever became of it."""
    card = {"number": number, "exp_month": 12, "exp_year": world.now.year + _YEARS, "cvc": "123"}
    shopper.pay(world, {"client_secret": unpaid["_client_secret"], "card": card})
    return latest_payment(world, unpaid)


def latest_payment(world: Transaction, new_order: Doc) -> Doc:
    """The last attempt to pay an order."""
    return payments.latest(world, again(world, new_order))


def debit(world: Transaction, unpaid: Doc) -> None:
    """Pays an order by the delayed method that it offers; raises Problem if it offers none."""
    shopper.pay(world, {"client_secret": unpaid["_client_secret"], "method": "sepa_debit"})


def new_refund(world: Transaction, payment: Doc, amount: int | None = None) -> Doc:
    """A pending refund."""
    wanted = {} if amount is None else {"amount": amount}
    return refunds.create(world, {"payment": payment["id"], **wanted})


def new_dispute(world: Transaction, payment: Doc) -> Doc:
    """A dispute that waits for an answer."""
    return disputes.open_dispute(world, again(world, payment), "product_not_received")


def again(world: Transaction, doc: Doc) -> Doc:
    """The document as it is stored now."""
    found = world.get(doc["object"], doc["id"])
    assert found is not None
    return found


def _params(world: Transaction, fields: Fields, tree: dict[str, Any]) -> dict[str, Any]:
    # Changes that were typed on a command line are text, as in a form.
    coerced = coerce(fields, DecodedInput(tree, textual=True))
    refuse_unknown(fields, coerced)
    return check(fields, coerced, world.settings)


Changes = Mapping[str, Any]
_EVIDENCE: Final = {"evidence": {"tracking_number": "00340434161094042557"}, "submit": True}


class Scenario:
    """The steps that lead to an event; `made` are the objects that came of them, in their order.

    `changes` are parameters of the order, or of the payout, that the story begins with.
    """

    def __init__(self, world: Transaction, changes: Changes) -> None:
        self.world = world
        self.made: list[Doc] = []
        self._changes = changes

    def order(self, **fixed: Any) -> Doc:
        return self._add(new_order(self.world, {**self._changes, **fixed}))

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
        return again(self.world, order)

    def declined(self) -> None:
        self._attempt(self.order(), DECLINED)

    def processing(self) -> None:
        """A delayed debit whose result is open."""
        order = self.order()
        debit(self.world, order)
        self._add(latest_payment(self.world, order))

    def cancelled(self, order: Doc) -> None:
        orders.cancel(self.world, order, {})

    def refund(self) -> Doc:
        return self._add(new_refund(self.world, self.paid()))

    def finished_refund(self, failure_reason: str | None) -> None:
        handlers.finish_refund(self.world, self.refund(), failure_reason)

    def disputed(self) -> Doc:
        return self._add(new_dispute(self.world, self.paid()))

    def answered(self) -> Doc:
        """A dispute whose evidence is under review."""
        return disputes.update(self.world, self.disputed(), _EVIDENCE)

    def decided(self, outcome: str) -> None:
        disputes.close(self.world, self.answered(), outcome)

    def payout(self) -> Doc:
        return self._add(new_payout(self.world, self._changes))

    def sent(self) -> Doc:
        payout = self.payout()
        payouts.send(self.world, payout)
        return payout

    def arrived(self) -> None:
        payouts.arrive(self.world, self.sent())

    def rejected(self) -> None:
        payouts.fail(self.world, self.sent(), "account_closed")

    def _attempt(self, order: Doc, number: str = APPROVED) -> Doc:
        return self._add(attempt(self.world, order, number))

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


def trigger(world: Transaction, event_type: str, changes: Changes) -> Doc:
    """Creates what the event needs and lets it happen; shows the event and what was created.

    `changes` are parameters of the order, or of the payout, that is created for it.

    Raises:
        Problem: the parameters are not in order, or the event cannot happen in this mode.
    """
    before = world.emitted
    story = Scenario(world, changes)
    SCENARIOS[event_type](story)
    emitted = _latest(world, world.emitted - before)
    event = next((one for one in emitted if one["type"] == event_type), None)
    if event is None:
        raise _not_triggered(
            f"{event_type} cannot be triggered like this; live mode takes no payments."
        )
    return {
        "object": "trigger",
        "type": event_type,
        "event": event,
        "created": [public(again(world, doc)) for doc in story.made],
        "events": [{"id": one["id"], "type": one["type"]} for one in reversed(emitted)],
        "livemode": world.livemode,
    }


def _latest(world: Transaction, count: int) -> list[Doc]:
    """The last `count` events, the newest first."""
    rows, _ = events.page(
        world.store, world.mode, micros(world.now), event_type=None, limit=count, after=None
    )
    return [decode(row) for row in rows]


def _not_triggered(message: str) -> Problem:
    return Problem(400, "event_not_triggered", message, param="type")
