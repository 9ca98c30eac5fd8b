"""Making an event of any type happen for real, with the objects that it needs (contract F.1)."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from svc.sandbox import disputes, events, lifecycle, orders, payouts, samples
from svc.sandbox.documents import Doc, decode
from svc.sandbox.problems import Problem
from svc.sandbox.times import micros
from svc.sandbox.world import World

Changes = Mapping[str, Any]
_EVIDENCE: Final = {"evidence": {"tracking_number": "00340434161094042557"}, "submit": True}


def trigger(world: World, event_type: str, changes: Changes) -> Doc:
    """Creates what the event needs and lets it happen; returns the event.

    `changes` are parameters of the order, or of the payout, that is created for it.

    Raises:
        Problem: the parameters are not in order, or the event cannot happen in this mode.
    """
    before = world.emitted
    _RECIPES[event_type](world, changes)
    rows, _ = events.page(
        world.store, world.mode, micros(world.now), event_type=event_type, limit=1, after=None
    )
    if world.emitted == before or not rows:
        message = f"{event_type} cannot be triggered like this; live mode takes no payments."
        raise Problem(400, "event_not_triggered", message, param="type")
    return decode(rows[0])


def _paid(world: World, changes: Changes) -> Doc:
    payment = samples.attempt(world, samples.order(world, changes))
    if payment["status"] != "captured":
        message = "No payment was captured: live mode takes none, a manual order only holds it."
        raise Problem(400, "event_not_triggered", message, param="type")
    return payment


def _cancelled(world: World, changes: Changes) -> None:
    orders.cancel(world, samples.order(world, changes), {})


def _held(world: World, changes: Changes) -> Doc:
    order = samples.order(world, {**changes, "capture_method": "manual"})
    samples.attempt(world, order)
    return samples.again(world, order)


def _released(world: World, changes: Changes) -> None:
    orders.cancel(world, _held(world, changes), {})


def _declined(world: World, changes: Changes) -> None:
    samples.attempt(world, samples.order(world, changes), samples.DECLINED)


def _processing(world: World, changes: Changes) -> None:
    samples.debit(world, samples.order(world, changes))


def _refund(reason: str | None) -> Callable[[World, Changes], None]:
    def run(world: World, changes: Changes) -> None:
        refund = samples.refund(world, _paid(world, changes))
        lifecycle.finish_refund(world, refund, reason)

    return run


def _refund_created(world: World, changes: Changes) -> None:
    samples.refund(world, _paid(world, changes))


def _disputed(world: World, changes: Changes) -> Doc:
    return samples.dispute(world, _paid(world, changes))


def _answered(world: World, changes: Changes) -> Doc:
    return disputes.update(world, _disputed(world, changes), _EVIDENCE)


def _decided(outcome: str) -> Callable[[World, Changes], None]:
    return lambda world, changes: disputes.close(world, _answered(world, changes), outcome)


def _sent(world: World, changes: Changes) -> Doc:
    payout = samples.payout(world, changes)
    payouts.send(world, payout)
    return payout


def _arrived(world: World, changes: Changes) -> None:
    payouts.arrive(world, _sent(world, changes))


def _rejected(world: World, changes: Changes) -> None:
    payouts.fail(world, _sent(world, changes), "account_closed")


_RECIPES: Final[Mapping[str, Callable[[World, Changes], object]]] = {
    "order.paid": _paid,
    "order.cancelled": _cancelled,
    "payment.authorized": _held,
    "payment.captured": _paid,
    "payment.failed": _declined,
    "payment.processing": _processing,
    "payment.cancelled": _released,
    "refund.created": _refund_created,
    "refund.succeeded": _refund(None),
    "refund.failed": _refund("declined"),
    "dispute.opened": _disputed,
    "dispute.evidence_submitted": _answered,
    "dispute.won": _decided("won"),
    "dispute.lost": _decided("lost"),
    "payout.created": samples.payout,
    "payout.sent": _sent,
    "payout.paid": _arrived,
    "payout.failed": _rejected,
}
