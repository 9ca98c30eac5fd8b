"""What the shopper does: `svc sandbox pay` and `dispute` (contract F.1, F.2)."""

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from svc.cli import options
from svc.cli.app import verb
from svc.cli.fields import present
from svc.cli.sandbox_app import app
from svc.cli.sandbox_control import Control
from svc.cli.session import Session
from svc.errors import UsageError
from svc.spec import SANDBOX_KEYS

_CARD = "4242424242424242"
_AMEX = ("34", "37")
_YEARS_GOOD = 3
_SECRET_MARK = "_secret_"  # noqa: S105  the middle of every client secret

Number = Annotated[
    str | None, typer.Option("--card", metavar="NUMBER", help="A test card (4242424242424242).")
]
Expiry = Annotated[str | None, typer.Option(metavar="MM/YY", help="The card's expiry.")]
Cvc = Annotated[str | None, typer.Option(metavar="DIGITS", help="The card's code.")]


@verb(app)
def pay(
    ctx: typer.Context,
    order: Annotated[
        str,
        typer.Argument(
            metavar="ORDER", help="ord_..., or the order's client secret", show_default=False
        ),
    ],
    card: Number = None,
    expiry: Expiry = None,
    cvc: Cvc = None,
    method: Annotated[
        str | None, typer.Option(metavar="METHOD", help="One of the order's methods (card).")
    ] = None,
    payment_method: Annotated[
        str | None, typer.Option(metavar="ID", help="A saved card, pm_... .")
    ] = None,
    save_card: Annotated[bool, typer.Option("--save-card", help="Save the card.")] = False,
    three_ds: Annotated[
        str | None, typer.Option("--3ds", metavar="HOW", help="succeed, fail or abandon.")
    ] = None,
    iban: Annotated[str | None, typer.Option(metavar="IBAN", help="For sepa_debit.")] = None,
    outcome: Annotated[
        str | None,
        typer.Option(metavar="HOW", help="Of a redirect method: success, failure, abandon."),
    ] = None,
) -> None:
    """Pay an order as its shopper would in the browser.

    $ svc sandbox pay ord_3kPq0aVb7cXd9eYf1gZh2iWj
    $ svc sandbox pay ord_3kPq0aVb7cXd9eYf1gZh2iWj --card 4000000000009995
    """
    session = Session.of(ctx)
    fields = present(
        **_whose(order),
        method=method,
        payment_method=payment_method,
        save_card="true" if save_card else None,
        three_ds=three_ds,
        iban=iban,
        outcome=outcome,
    )
    if method in (None, "card") and payment_method is None:
        fields |= _card_fields(session, card or _CARD, expiry, cvc)
    elif card or expiry or cvc:
        raise UsageError("--card, --expiry and --cvc are for paying with a new card.")
    key = SANDBOX_KEYS[f"publishable_{session.settings.mode}"]
    with Control(session) as control:
        text, data = control.post("/checkout/pay", fields, key)
    _show_payment(session, text, data)


@verb(app)
def dispute(
    ctx: typer.Context,
    payment: options.PaymentId,
    reason: Annotated[
        str | None,
        typer.Option(metavar="REASON", help="Such as fraudulent or product_not_received."),
    ] = None,
    evidence_due_by: Annotated[
        str | None, typer.Option(metavar="TIME", help="As 2026-10-15T23:59:59Z; else in 14 days.")
    ] = None,
) -> None:
    """Have the shopper dispute a captured payment.

    $ svc sandbox dispute pay_7cXd9eYf1gZh2iWj3kPq0aVb --reason product_not_received
    """
    session = Session.of(ctx)
    fields = present(payment=payment, reason=reason, evidence_due_by=evidence_due_by)
    with Control(session) as control:
        session.out.one(*control.post("/disputes", fields))


def _whose(order: str) -> dict[str, str]:
    return {"client_secret" if _SECRET_MARK in order else "order": order}


def _card_fields(
    session: Session, number: str, expiry: str | None, cvc: str | None
) -> dict[str, str]:
    month, year = _expiry(expiry) if expiry else ("12", str(_this_year(session) + _YEARS_GOOD))
    usual = "1234" if number.startswith(_AMEX) else "123"
    return {
        "card[number]": number.replace(" ", ""),
        "card[exp_month]": month,
        "card[exp_year]": year,
        "card[cvc]": cvc or usual,
    }


def _this_year(session: Session) -> int:
    return datetime.fromtimestamp(session.clock.now(), UTC).year


def _expiry(text: str) -> tuple[str, str]:
    month, slash, year = text.partition("/")
    if not (slash and month.isascii() and year.isascii() and (month + year).isdigit()):
        raise UsageError(f"--expiry {text!r} is not MM/YY.", param="--expiry", hint="As in 12/29")
    return month, year


def _show_payment(session: Session, text: str, data: dict[str, Any]) -> None:
    """People see the payment (or, after giving up, the order); programs get both."""
    if session.format != "human":
        session.out.one(text, data)
        return
    order = data["order"]
    session.out.value(data.get("payment") or order)
    session.out.note(f"Order {order['id']} is {order['status']}.")
