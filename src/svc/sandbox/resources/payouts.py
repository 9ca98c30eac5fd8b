"""Payouts in the sandbox: from the balance through the local network to the receiving bank.

`api` creates them for `/v1/payouts`; jobs send them on, `svc sandbox settle` and `fail` at once.
"""

from datetime import timedelta
from typing import Final

from svc.sandbox import clock
from svc.sandbox.parameters.described import build_stored, read_kept
from svc.sandbox.parameters.problems import Problem, build_invalid
from svc.sandbox.parameters.tables import Params
from svc.sandbox.reference import banks, fx
from svc.sandbox.resources import operation
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.transaction import Transaction
from svc.service.payouts import RESOURCE

KIND: Final = RESOURCE.name
SEND: Final = "payout.send"  # names of jobs
SETTLE: Final = "payout.settle"
SENT_AFTER: Final = timedelta(hours=1)
ARRIVES_AFTER: Final = timedelta(hours=24)

FAILURE_MESSAGES: Final = {
    "no_account": "The receiving bank has no such account.",
    "account_closed": "The receiving account is closed.",
    "account_frozen": "The receiving account is frozen.",
    "could_not_process": "The local network could not process the payout.",
    "invalid_currency": "The receiving account does not take this currency.",
    "incorrect_account_holder_name": "The account holder's name does not match the account.",
}


def _check_iban(destination: Params, name: str) -> None:
    """An IBAN must be one, and of an account in the destination's country."""
    if "iban" in destination and not banks.is_iban(destination["iban"], destination["country"]):
        field = f"{name}[iban]"
        message = f"{field} is not a valid IBAN of an account in {destination['country']}."
        raise build_invalid(banks.IBAN_INVALID, field, message)


def create(tx: Transaction, params: Params) -> Doc:
    """Takes the payout's cost from the balance and sends it on its way."""
    source = params.get("source_currency") or str(tx.settings["settlement_currency"])
    cost = fx.payout_cost(params["amount"], params["currency"], source)
    if tx.balance(source) < cost.source_amount:
        message = f"The {source} balance does not cover the payout and its fees."
        raise Problem(400, "balance_insufficient", message)
    given = params["destination"]
    account = banks.normalize_iban(given.get("iban") or given.get("account_number", ""))
    fields = build_stored(
        RESOURCE,
        params,
        status="created",
        source_currency=source,
        source_amount=cost.source_amount,
        fx_rate=fx.number(cost.fx_rate),
        network_fees=cost.network_fees,
        destination={**read_kept(RESOURCE, "destination", params), "last4": account[-4:]},
        estimated_arrival=clock.text(tx.now + ARRIVES_AFTER),
    )
    payout = tx.new(KIND, fields)
    tx.add(payout)
    tx.move_balance(source, -cost.source_amount)
    tx.emit("payout.created", payout)
    scenario = banks.payout_scenario(given)
    # The end is planned for every payout: one that is never sent by itself may be sent by hand.
    early = None if scenario.sent else scenario.failure_reason
    tx.schedule_at(tx.now + SENT_AFTER, SEND, payout["id"], failure_reason=early)
    end = tx.now + ARRIVES_AFTER
    tx.schedule_at(end, SETTLE, payout["id"], failure_reason=scenario.failure_reason)
    return payout


def send(tx: Transaction, payout: Doc) -> None:
    """A created payout was handed to the local network."""
    payout["status"] = "sent"
    payout["sent_at"] = tx.now_text
    tx.save(payout)
    tx.cancel_jobs(SEND, payout["id"])
    tx.emit("payout.sent", payout)


def arrive(tx: Transaction, payout: Doc) -> None:
    """The receiving bank accepted a payout that was sent."""
    payout["status"] = "paid"
    payout["paid_at"] = tx.now_text
    _finish(tx, payout)


def fail(tx: Transaction, payout: Doc, reason: str) -> None:
    """A payout on its way was rejected: what it took returns to the balance."""
    payout["status"] = "failed"
    payout["failure_reason"] = reason
    payout["failure_message"] = FAILURE_MESSAGES[reason]
    payout["failed_at"] = tx.now_text
    tx.move_balance(payout["source_currency"], payout["source_amount"])
    _finish(tx, payout)


def _finish(tx: Transaction, payout: Doc) -> None:
    tx.save(payout)
    tx.cancel_jobs(SEND, payout["id"])
    tx.cancel_jobs(SETTLE, payout["id"])
    tx.emit(f"payout.{payout['status']}", payout)


OPERATIONS: Final = operation.operations(RESOURCE, {"destination": _check_iban}, create=create)
