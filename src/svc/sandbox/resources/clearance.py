"""Customs clearance: what customs charge of a paid order, and who pays it (spec: What it does, 6).

The specification says that the service covers what customs charge over a guaranteed quote. The rest
is our assumption: the merchant pays it where the checkout has collected the landed cost, else the
shopper. `payments` plans a charge when an order is paid, a job or `svc sandbox customs` charges.
"""

from datetime import timedelta
from typing import Final

from svc.sandbox.parameters.problems import Problem, build_unexpected_state
from svc.sandbox.reference import fx
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.transaction import Transaction

KIND: Final = "order"
CHARGE: Final = "order.customs"  # the name of its job
CLEARED_AFTER: Final = timedelta(days=2)
# What customs charge by themselves, by the name of the recipient: more than was quoted, or less.
_SCENARIOS: Final = {
    "customs_over": lambda quoted: quoted + max(1, quoted // 2),
    "customs_exact": lambda quoted: quoted,
    "customs_under": lambda quoted: quoted // 2,
}


def plan(tx: Transaction, order: Doc) -> None:
    """Schedules a customs charge of a paid order if its recipient's name asks for one."""
    charge_of = _SCENARIOS.get(order["shipping"].get("name", ""))
    if charge_of is not None:
        charged = charge_of(order["landed_cost"]["total"])
        tx.schedule_at(tx.now + CLEARED_AFTER, CHARGE, order["id"], charged=charged)


def charge(tx: Transaction, order: Doc, charged: int) -> None:
    """Customs charge `charged` minor units of the order's currency, once.

    With a guarantee the service covers what that is over the quote. The rest leaves the balance
    where the checkout has collected the landed cost; else the shopper pays it at the door.
    """
    if order["status"] != "paid":
        message = f"The order is {order['status']}; customs charge only a paid order."
        raise build_unexpected_state(KIND, order["status"], message)
    if order["customs"] is not None:
        raise Problem(400, "customs_charged", "Customs have charged this order already.")
    quote = order["landed_cost"]
    covered = max(0, charged - quote["total"]) if quote["guaranteed"] else 0
    paid = charged - covered
    order["customs"] = {
        "charged": charged,
        "covered": covered,
        "paid": paid,
        "paid_by": "merchant" if order["_collects"] else "shopper",
        "currency": quote["currency"],
        "charged_at": tx.now_text,
    }
    tx.save(order)
    tx.cancel_jobs(CHARGE, order["id"])
    if order["_collects"]:
        target = order["settlement_currency"]
        tx.move_balance(target, -fx.convert(paid, quote["currency"], target))
