"""Makes one attempt to pay from the checkout page, by the steps of `resources.shopper`.

`app` calls `attempt` with the fields of the submitted form: the order and its payment come out, or
a `Problem`. `app` and `pages` ask the other functions which field or text a problem is about.
"""

from datetime import date
from typing import Any, Final

from svc.sandbox.checkout.visit import Visit, token_of
from svc.sandbox.engine import Engine
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.parameters.tables import check
from svc.sandbox.reference import cards, methods
from svc.sandbox.resources import orders, shopper
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.transaction import Transaction

TOTAL_CHANGED: Final = "total_changed"
# Codes that a shopper may know; of any other decline only that it was one (a thief learns nothing).
_TOLD: Final = frozenset(
    "authentication_failed expired_card iban_invalid incorrect_cvc incorrect_number "
    "insufficient_funds method_not_offered processing_error total_changed".split()
)
FIELD_OF_CODE: Final = {
    "expired_card": "expiry",
    "iban_invalid": "iban",
    "incorrect_cvc": "cvc",
    "incorrect_number": "number",
}
_CODE_OF_PARAM: Final = {
    "card[number]": "incorrect_number",
    "card[cvc]": "incorrect_cvc",
    "iban": "iban_invalid",
}


async def attempt(
    engine: Engine, visit: Visit, agreed: str, fields: dict[str, Any]
) -> Doc | Problem:
    """Pays, if the total is still the one that the shopper agreed to: `agreed`, a `Visit.token`.

    `fields` are those of `shopper.PAY`. A refusal is returned as a Problem, whether it left a
    failed payment behind or nothing at all.
    """

    def act(tx: Transaction) -> Doc | Problem:
        order = tx.get(orders.KIND, visit.order["id"])
        if order is not None and token_of(order) != agreed:
            raise Problem(409, TOTAL_CHANGED, "The total is not the one that was shown.")
        return shopper.pay(tx, params)

    try:
        tree = {"client_secret": visit.address.secret, **fields}
        params = check(shopper.PAY, tree, engine.settings.current)
        return await engine.run(visit.mode, act)
    except Problem as problem:
        return problem


def needs_challenge(number: str, fields: dict[str, Any], today: date) -> bool:
    """Whether the bank of a card, new or saved, asks the shopper first (3-D Secure)."""
    behaviour = cards.BEHAVIOURS.get(number)
    asked = fields["method"] == methods.CARD and behaviour is not None and behaviour.challenge
    return asked and not find_unusable(fields, today)


def find_unusable(fields: dict[str, Any], today: date) -> dict[str, str]:
    """The fields of a card that no bank would take, each with the key of its text."""
    found = cards.problems(**fields["card"], today=today) if "card" in fields else []
    return {FIELD_OF_CODE[problem]: problem for problem in found}


def choose_text(code: str | None) -> str:
    """The key of the text for a shopper after a decline with this code."""
    return code if code in _TOLD else "declined"


def code_of(problem: Problem) -> str:
    """The code that says most of what went wrong: a bank's own, if there is one."""
    return problem.extra.get("decline_code") or _CODE_OF_PARAM.get(
        problem.param or "", problem.code
    )
