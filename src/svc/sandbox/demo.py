"""The fixture `demo`: one object in each state that a newcomer wants to look at."""

from typing import Final

from svc.sandbox import disputes, lifecycle, orders, payouts, quotes, samples
from svc.sandbox.world import World

_CLOSED_IBAN: Final = "DE35370400440532013002"


def fill_demo(world: World) -> None:
    """Adds orders, refunds, payouts, a dispute and quotes, through the very steps of the API."""
    _add_orders(world)
    _add_payouts(world)
    _add_quote(world, "6203.39", "CN")
    _add_quote(world, "6203", None)


def _add_orders(world: World) -> None:
    samples.order(world, {"metadata": {"ref": "A-1001"}})
    paid = samples.attempt(world, samples.order(world, {"metadata": {"ref": "A-1002"}}))
    manual = {"capture_method": "manual", "metadata": {"ref": "A-1003"}}
    samples.attempt(world, samples.order(world, manual))
    cancelled = samples.order(world, {"metadata": {"ref": "A-1004"}})
    orders.cancel(world, cancelled, {"cancellation_reason": "abandoned"})
    lifecycle.finish_refund(world, samples.refund(world, paid, 2500), None)
    lifecycle.finish_refund(world, samples.refund(world, paid, 1000), "declined")
    evidence = {"evidence": {"tracking_number": "00340434161094042557"}}
    disputes.update(world, samples.dispute(world, paid), evidence)


def _add_payouts(world: World) -> None:
    paid = samples.payout(world, {})
    payouts.send(world, paid)
    payouts.arrive(world, paid)
    closed = {"country": "DE", "account_holder_name": "Muster GmbH", "iban": _CLOSED_IBAN}
    failed = samples.payout(world, {"destination": closed, "reference": "INV-8"})
    payouts.fail(world, failed, "account_closed")


def _add_quote(world: World, hs_code: str, origin: str | None) -> None:
    item = {
        "name": "Linen jacket",
        "quantity": 1,
        "unit_amount": 12900,
        "hs_code": hs_code,
        "origin_country": origin,
    }
    quotes.create(world, {"currency": "EUR", "shipping": {"country": "DE"}, "items": [item]})
