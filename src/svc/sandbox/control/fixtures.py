"""Fills a new or reset sandbox: its keys and balances, and with `demo` example objects.

`svc.sandbox.app` passes `fill` to the engine, which calls it at the first start and at each reset;
`svc sandbox start --fixture` takes the names of `FIXTURES`.
"""

from typing import Final

from svc.money import exponent
from svc.sandbox.control import scenarios
from svc.sandbox.jobs import handlers
from svc.sandbox.parameters.problems import not_allowed_value
from svc.sandbox.reference import fx
from svc.sandbox.resources import (
    api_keys,
    disputes,
    landed_cost_quotes,
    orders,
    payouts,
    refunds,
    webhook_endpoints,
)
from svc.sandbox.store.transaction import Transaction
from svc.service.facts import DEMO_IDS, RESTRICTED_RESOURCES, SANDBOX_KEYS

_CLOSED_IBAN: Final = "DE35370400440532013002"
_SLOW: Final = 7 * 86400  # seconds, where another bank takes a few
_RECEIVER: Final = "http://127.0.0.1:3000/webhooks"


def fill_demo(tx: Transaction) -> None:
    """Adds the objects of `demo`, by the API's own steps, and a webhook endpoint, disabled."""
    _add_orders(tx)
    _add_disputes(tx)
    _add_payouts(tx)
    receiver = {"url": _RECEIVER, "events": ["order.paid"], "description": "Demo"}
    # Disabled: a demo sends nothing until the user asks for it.
    webhook_endpoints.disable(tx, webhook_endpoints.create(tx, receiver))
    _add_quote(tx, "6203.39", "CN")
    _add_quote(tx, "6203", None)


def _add_orders(tx: Transaction) -> None:
    scenarios.create_order(tx, {"metadata": {"ref": "A-1001"}})
    paid = scenarios.attempt(tx, scenarios.create_order(tx, {"metadata": {"ref": "A-1002"}}))
    manual = {"capture_method": "manual", "metadata": {"ref": "A-1003"}}
    scenarios.attempt(tx, scenarios.create_order(tx, manual))
    cancelled = scenarios.create_order(tx, {"metadata": {"ref": "A-1004"}})
    orders.cancel(tx, cancelled, {"cancellation_reason": "abandoned"})
    slow = scenarios.create_refund(tx, paid, 1500)
    tx.cancel_jobs(refunds.SETTLE, slow["id"])  # it stays pending until a call settles it
    tx.schedule(_SLOW, refunds.SETTLE, slow["id"], failure_reason=None)
    handlers.finish_refund(tx, scenarios.create_refund(tx, paid, 2500), None)
    handlers.finish_refund(tx, scenarios.create_refund(tx, paid, 1000), "declined")


def _add_disputes(tx: Transaction) -> None:
    """One with a draft of evidence, one whose evidence is under review."""
    evidence = {"evidence": {"tracking_number": "00340434161094042557"}}
    for ref, more in (("A-1005", {}), ("A-1006", {"submit": True})):
        paid = scenarios.attempt(tx, scenarios.create_order(tx, {"metadata": {"ref": ref}}))
        disputes.update(tx, scenarios.create_dispute(tx, paid), {**evidence, **more})


def _add_payouts(tx: Transaction) -> None:
    paid = scenarios.create_payout(tx, {})
    payouts.send(tx, paid)
    payouts.arrive(tx, paid)
    scenarios.create_payout(tx, {"reference": "INV-9"})
    closed = {"country": "DE", "account_holder_name": "Muster GmbH", "iban": _CLOSED_IBAN}
    failed = scenarios.create_payout(tx, {"destination": closed, "reference": "INV-8"})
    payouts.fail(tx, failed, "account_closed")


def _add_quote(tx: Transaction, hs_code: str, origin: str | None) -> None:
    item = {
        "name": "Linen jacket",
        "quantity": 1,
        "unit_amount": 12900,
        "hs_code": hs_code,
        "origin_country": origin,
    }
    landed_cost_quotes.create(
        tx, {"currency": "EUR", "shipping": {"country": "DE"}, "items": [item]}
    )


FIXTURES: Final = ("demo",)
_BALANCE: Final = 1_000_000  # major units, in test mode


def fill(test: Transaction, live: Transaction, name: str | None) -> None:
    """Adds the fixed keys and the balances, and the objects of a fixture that was asked for.

    Raises:
        Problem: there is no such fixture.
    """
    if name is not None and name not in FIXTURES:
        raise not_allowed_value("fixture", FIXTURES)
    with test.ids.prescribe(DEMO_IDS if name == "demo" else {}):
        api_keys.register(test, SANDBOX_KEYS["secret_test"], "secret")
        api_keys.register(test, SANDBOX_KEYS["publishable_test"], "publishable")
        readable = dict.fromkeys(RESTRICTED_RESOURCES, "read")
        api_keys.register(test, SANDBOX_KEYS["restricted_test"], "restricted", readable)
        api_keys.register(live, SANDBOX_KEYS["secret_live"], "secret")
        api_keys.register(live, SANDBOX_KEYS["publishable_live"], "publishable")
        for currency in fx.USD_PER_UNIT:
            test.set_balance(currency, _BALANCE * 10 ** (exponent(currency) or 0))
            live.set_balance(currency, 0)
        if name == "demo":
            fill_demo(test)
