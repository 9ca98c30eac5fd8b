"""Making an event of any type happen for real, with the objects that it needs."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from svc.sandbox import disputes, events, lifecycle, orders, payouts, samples
from svc.sandbox.documents import Doc, decode, public
from svc.sandbox.problems import Problem
from svc.sandbox.times import micros
from svc.sandbox.world import World

Changes = Mapping[str, Any]
_EVIDENCE: Final = {"evidence": {"tracking_number": "00340434161094042557"}, "submit": True}


class Story:
    """The steps that lead to an event; `made` are the objects that came of them, in their order.

    `changes` are parameters of the order, or of the payout, that the story begins with.
    """

    def __init__(self, world: World, changes: Changes) -> None:
        self.world = world
        self.made: list[Doc] = []
        self._changes = changes

    def order(self, **fixed: Any) -> Doc:
        return self._add(samples.order(self.world, {**self._changes, **fixed}))

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
        return samples.again(self.world, order)

    def declined(self) -> None:
        self._attempt(self.order(), samples.DECLINED)

    def processing(self) -> None:
        """A delayed debit whose result is open."""
        order = self.order()
        samples.debit(self.world, order)
        self._add(samples.latest_payment(self.world, order))

    def cancelled(self, order: Doc) -> None:
        orders.cancel(self.world, order, {})

    def refund(self) -> Doc:
        return self._add(samples.refund(self.world, self.paid()))

    def finished_refund(self, failure_reason: str | None) -> None:
        lifecycle.finish_refund(self.world, self.refund(), failure_reason)

    def disputed(self) -> Doc:
        return self._add(samples.dispute(self.world, self.paid()))

    def answered(self) -> Doc:
        """A dispute whose evidence is under review."""
        return disputes.update(self.world, self.disputed(), _EVIDENCE)

    def decided(self, outcome: str) -> None:
        disputes.close(self.world, self.answered(), outcome)

    def payout(self) -> Doc:
        return self._add(samples.payout(self.world, self._changes))

    def sent(self) -> Doc:
        payout = self.payout()
        payouts.send(self.world, payout)
        return payout

    def arrived(self) -> None:
        payouts.arrive(self.world, self.sent())

    def rejected(self) -> None:
        payouts.fail(self.world, self.sent(), "account_closed")

    def _attempt(self, order: Doc, number: str = samples.APPROVED) -> Doc:
        return self._add(samples.attempt(self.world, order, number))

    def _add(self, doc: Doc) -> Doc:
        self.made.append(doc)
        return doc


STORIES: Final[Mapping[str, Callable[[Story], object]]] = {
    "order.paid": Story.paid,
    "order.cancelled": lambda story: story.cancelled(story.order()),
    "payment.authorized": Story.held,
    "payment.captured": Story.paid,
    "payment.failed": Story.declined,
    "payment.processing": Story.processing,
    "payment.cancelled": lambda story: story.cancelled(story.held()),
    "refund.created": Story.refund,
    "refund.succeeded": lambda story: story.finished_refund(None),
    "refund.failed": lambda story: story.finished_refund("declined"),
    "dispute.opened": Story.disputed,
    "dispute.evidence_submitted": Story.answered,
    "dispute.won": lambda story: story.decided("won"),
    "dispute.lost": lambda story: story.decided("lost"),
    "payout.created": Story.payout,
    "payout.sent": Story.sent,
    "payout.paid": Story.arrived,
    "payout.failed": Story.rejected,
}


def trigger(world: World, event_type: str, changes: Changes) -> Doc:
    """Creates what the event needs and lets it happen; shows the event and what was created.

    `changes` are parameters of the order, or of the payout, that is created for it.

    Raises:
        Problem: the parameters are not in order, or the event cannot happen in this mode.
    """
    before = world.emitted
    story = Story(world, changes)
    STORIES[event_type](story)
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
        "created": [public(samples.again(world, doc)) for doc in story.made],
        "events": [{"id": one["id"], "type": one["type"]} for one in reversed(emitted)],
        "livemode": world.livemode,
    }


def _latest(world: World, count: int) -> list[Doc]:
    """The last `count` events, the newest first."""
    rows, _ = events.page(
        world.store, world.mode, micros(world.now), event_type=None, limit=count, after=None
    )
    return [decode(row) for row in rows]


def _not_triggered(message: str) -> Problem:
    return Problem(400, "event_not_triggered", message, param="type")
