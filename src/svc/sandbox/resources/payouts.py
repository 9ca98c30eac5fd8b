"""Payouts: from the balance through the local network to the receiving bank."""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from svc.sandbox import clock
from svc.sandbox.parameters import schema
from svc.sandbox.parameters.kinds import Amount, Choice, Country, Currency, Shaped, Text
from svc.sandbox.parameters.metadata import Metadata, merged
from svc.sandbox.parameters.problems import Problem, invalid, missing
from svc.sandbox.parameters.tables import Object, Parameter, Params
from svc.sandbox.reference import banks, fx
from svc.sandbox.resources import goods, operation
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.transaction import Transaction
from svc.service.facts import PAYOUT_STATUSES

KIND: Final = "payout"
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
    "incorrect_account_holder_name": "The account holder's name does not fit the account.",
}


def _one_account(destination: Params, name: str) -> None:
    """Exactly one of IBAN and account number, and each as its bank would take it."""
    if ("iban" in destination) == ("account_number" in destination):
        message = f"{name} needs either iban, or account_number with bank_code."
        raise invalid("parameters_exclusive", name, message)
    if "account_number" in destination and "bank_code" not in destination:
        raise missing(f"{name}[bank_code]")
    if "iban" in destination and banks.iban_problem(destination["iban"], destination["country"]):
        field = f"{name}[iban]"
        message = f"{field} is no valid IBAN of an account in {destination['country']}."
        raise invalid(banks.IBAN_INVALID, field, message)


_DESTINATION: Final = Object(
    (
        Parameter("country", Country(), required=True),
        Parameter("account_holder_name", Text(140), required=True),
        Parameter("iban", Text(64)),
        Parameter("account_number", Shaped(re.compile(r"[0-9]{4,17}"), "4 to 17 digits")),
        Parameter(
            "bank_code", Shaped(re.compile(r"[0-9A-Za-z]{3,12}"), "3 to 12 letters or digits")
        ),
        Parameter("bic", Text(40)),
        Parameter("bank_name", Text(140)),
    ),
    rule=_one_account,
)
CREATE: Final = (
    Parameter("amount", Amount(), required=True),
    Parameter("currency", Currency(), required=True),
    Parameter("source_currency", Currency()),
    Parameter("destination", _DESTINATION, required=True),
    Parameter("reference", Text(35)),
    Parameter("metadata", Metadata()),
)
FILTERS: Final = (Parameter("status", Choice(PAYOUT_STATUSES), clearable=False),)
EXAMPLE: Final[Mapping[str, Any]] = {
    "amount": 10000,
    "currency": "EUR",
    "source_currency": "USD",
    "destination": {
        "country": "DE",
        "account_holder_name": "Muster GmbH",
        "iban": "DE89370400440532013000",
    },
    "reference": "INV-7",
}
ANSWER: Final = schema.resource(
    KIND,
    {
        "status": schema.words(PAYOUT_STATUSES),
        "amount": schema.integer(1),
        "currency": schema.CURRENCY,
        "source_currency": schema.CURRENCY,
        "source_amount": schema.POSITIVE,
        "fx_rate": schema.RATE,
        "network_fees": schema.POSITIVE,
        "destination": schema.strict(
            {
                "country": schema.COUNTRY,
                "account_holder_name": schema.TEXT,
                "bank_name": schema.nullable(schema.TEXT),
                "last4": schema.LAST4,
            }
        ),
        "reference": schema.nullable(schema.TEXT),
        "failure_reason": schema.nullable(schema.words(FAILURE_MESSAGES)),
        "failure_message": schema.nullable(schema.TEXT),
        "estimated_arrival": schema.TIMESTAMP,
        "sent_at": schema.nullable(schema.TIMESTAMP),
        "paid_at": schema.nullable(schema.TIMESTAMP),
        "failed_at": schema.nullable(schema.TIMESTAMP),
        "metadata": schema.METADATA,
    },
)


def create(tx: Transaction, params: Params) -> Doc:
    """Takes the payout's cost from the balance and sends it on its way."""
    source = params.get("source_currency") or str(tx.settings["settlement_currency"])
    cost = fx.payout_cost(params["amount"], params["currency"], source)
    if tx.balance(source) < cost.source_amount:
        message = f"The {source} balance does not cover the payout and its fees."
        raise Problem(400, "balance_insufficient", message)
    fields = {
        "status": "created",
        "amount": params["amount"],
        "currency": params["currency"],
        "source_currency": source,
        "source_amount": cost.source_amount,
        "fx_rate": goods.number(cost.fx_rate),
        "network_fees": cost.network_fees,
        "destination": _shown_destination(params["destination"]),
        "reference": params.get("reference"),
        "failure_reason": None,
        "failure_message": None,
        "estimated_arrival": clock.text(tx.now + ARRIVES_AFTER),
        "sent_at": None,
        "paid_at": None,
        "failed_at": None,
        "metadata": merged({}, params.get("metadata")),
    }
    payout = tx.new(KIND, fields)
    tx.add(payout)
    tx.move_balance(source, -cost.source_amount)
    tx.emit("payout.created", payout)
    _plan(tx, payout, banks.payout_scenario(params["destination"]))
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


def _plan(tx: Transaction, payout: Doc, scenario: banks.PayoutScenario) -> None:
    # The end is planned for every payout: one that is never sent by itself may be sent by hand.
    early = None if scenario.sent else scenario.failure_reason
    tx.schedule_at(tx.now + SENT_AFTER, SEND, payout["id"], failure_reason=early)
    end = tx.now + ARRIVES_AFTER
    tx.schedule_at(end, SETTLE, payout["id"], failure_reason=scenario.failure_reason)


def _shown_destination(given: Params) -> Doc:
    account = banks.plain_iban(given.get("iban") or given.get("account_number", ""))
    return {
        "country": given["country"],
        "account_holder_name": given["account_holder_name"],
        "bank_name": given.get("bank_name"),
        "last4": account[-4:],
    }


_OF: Final = operation.NounOperations("/v1/payouts", "payouts", KIND, "Payout")
OPERATIONS: Final = (
    _OF.create(
        "createPayout",
        "Send a payout",
        create,
        CREATE,
        example=EXAMPLE,
        refuses=(
            "parameters_exclusive",
            "parameter_missing",
            "iban_invalid",
            "balance_insufficient",
        ),
    ),
    _OF.retrieve("retrievePayout", "Retrieve a payout"),
    _OF.listing("listPayouts", "List payouts", FILTERS),
)
