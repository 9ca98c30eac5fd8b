"""`svc sandbox pay`, `checkout` and `dispute`: acts as the shopper, without a browser or in one.

`pay` and `dispute` call controls of the running sandbox; `checkout` opens its page in the browser.
"""

from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlencode

from svc.cli.framework.app import make_app, verb
from svc.cli.framework.control import call_and_show, client_secret, moments, open_control
from svc.cli.framework.inputs import BodyFields, without_empty
from svc.cli.framework.inputs.times import stamp
from svc.cli.framework.options import argument, flag, option
from svc.cli.framework.prompts import open_page
from svc.cli.framework.session import Session
from svc.client.call import check_id
from svc.client.sandbox import control_call
from svc.errors import ApiError, UsageError
from svc.sandbox.reference import cards
from svc.service.disputes import REASONS

app = make_app()

_CARD: Final = cards.APPROVED["visa"]
_CARDS: Final = "The test cards and what each does: svc help sandbox"
_AMEX: Final = ("34", "37")
_DECLINED: Final = 402


ORDER_OR_SECRET: Final = argument("ORDER", "The order, ord_..., or its client secret.")


@verb(app)
def pay(
    session: Session,
    order: str = ORDER_OR_SECRET,
    card: str | None = option("NUMBER", "A test card.", "--card", show_default=_CARD),
    expiry: str | None = option("MM/YY", "The card's expiry."),
    cvc: str | None = option("DIGITS", "The card's code."),
    method: str | None = option(
        "METHOD", "One of the methods that the order names.", show_default="card"
    ),
    payment_method: str | None = option("ID", "A saved card, pm_..."),
    save_card: bool = flag("--save-card", "Save the card."),
    three_ds: str | None = option(
        "HOW", "What the shopper does with 3-D Secure: succeed, fail or abandon.", "--3ds"
    ),
    iban: str | None = option("IBAN", "The account that sepa_debit takes the money from."),
    outcome: str | None = option("HOW", "How a redirect method ends: success, failure or abandon."),
) -> None:
    """Pay an order as its shopper would in the browser.

    $ svc sandbox pay ord_3kPq0aVb7cXd9eYf1gZh2iWj
    $ svc sandbox pay ord_3kPq0aVb7cXd9eYf1gZh2iWj --card 4000000000009995
    """
    new_card = method in (None, "card") and payment_method is None
    if not new_card and (card or expiry or cvc):
        raise UsageError("--card, --expiry and --cvc are for paying with a new card.")
    body = without_empty(
        method=method,
        card=_card_fields(card or _CARD, expiry, cvc) if new_card else None,
        payment_method=payment_method,
        save_card=save_card or None,
        three_ds=three_ds,
        iban=iban,
        outcome=outcome,
    )
    _pay(session, order, body)


@verb(app)
def dispute(
    session: Session,
    payment: str = argument("ID", "The payment, pay_..."),
    reason: str | None = option("REASON", f"One of {', '.join(REASONS)}."),
    evidence_due_by: str | None = option(
        "TIME",
        "When evidence is due: 2026-11-21, 2026-11-21T09:00 or 3d (ahead).",
        show_default="14d",
    ),
) -> None:
    """Have the shopper dispute a captured payment.

    $ svc sandbox dispute pay_7cXd9eYf1gZh2iWj3kPq0aVb --reason product_not_received
    """
    due = _parse_due(session, evidence_due_by)
    body = without_empty(payment=payment, reason=reason, evidence_due_by=due)
    call_and_show(session, "POST", "disputes", body=body)


def _parse_due(session: Session, text: str | None) -> str | None:
    """A moment; a day's is its last second."""
    if text is None:
        return None
    found = moments(session, ahead=True).read(text, "--evidence-due-by")
    return stamp(found.begin if found.end is None else found.end - timedelta(seconds=1))


def _pay(session: Session, order: str, body: BodyFields) -> None:
    out = session.out
    key = session.publishable_key()
    with open_control(session) as control:
        if "card" in body:
            year = int(control.health().data["now"].partition("-")[0])
            body["card"].setdefault("exp_year", year + cards.YEARS_GOOD)
        body["client_secret"] = client_secret(session, control, order)
        reply = control.send(
            control_call("POST", "checkout", "pay", body=body), key=key, accept=(_DECLINED,)
        )
    if reply.status == _DECLINED:
        raise _build_declined(reply.data, reply.request_id)
    if session.format not in ("human", "id"):
        out.answer(reply.text, reply.data)
        return
    # People see the payment or, after giving up, the order; programs get both.
    paid = reply.data["order"]
    out.value(reply.data.get("payment") or paid)
    if session.format == "human":
        out.note(f"Order {paid['id']} is {paid['status']}.")


def _build_declined(data: Any, request_id: str | None) -> ApiError:
    """Returns why the card was declined, in the bank's word too, and where the payment is."""
    code, payment = data.get("decline_code"), data.get("payment")
    return ApiError(
        data["message"] + (f" ({code})" if code not in (None, data["code"]) else ""),
        code=data["code"],
        type=data["type"],
        status=_DECLINED,
        request_id=request_id,
        outcome="refused",
        hint=f"svc payments retrieve {payment['id']}" if payment else _CARDS,
    )


def _card_fields(number: str, expiry: str | None, cvc: str | None) -> BodyFields:
    """A card; without an expiry of its own it gets a year of the sandbox's clock later on."""
    month, year = _expiry(expiry) if expiry else (12, None)
    usual = "1234" if number.startswith(_AMEX) else "123"
    plain = number.replace(" ", "")
    if not plain.isdigit():
        raise UsageError(f"--card {number!r} is not a number.", param="--card", hint=_CARDS)
    return without_empty(number=plain, exp_month=month, exp_year=year, cvc=cvc or usual)


def _expiry(text: str) -> tuple[int, int]:
    month, slash, year = text.partition("/")
    if not (slash and month.isascii() and year.isascii() and (month + year).isdigit()):
        raise UsageError(f"--expiry {text!r} is not MM/YY.", param="--expiry", hint="As in 12/29")
    return int(month), int(year)


@verb(app)
def checkout(
    session: Session,
    order: str = ORDER_OR_SECRET,
    print_only: bool = flag("--print", "Print the address and open nothing."),
    return_url: str | None = option("URL", "Where the shopper goes in the end."),
) -> None:
    """Open the page on which the shopper pays an order.

    In a pipe, print its address. A page of your own shows it with the sandbox's /checkout.js.

    $ svc sandbox checkout ord_3kPq0aVb7cXd9eYf1gZh2iWj
    $ svc sandbox checkout ord_3kPq0aVb7cXd9eYf1gZh2iWj --return-url http://localhost:3000/thanks
    """
    query = urlencode(without_empty(key=session.publishable_key(), return_url=return_url))
    url = f"{session.base_url.url(_path(session, order))}?{query}"
    if session.given.everywhere.output in ("json", "ndjson"):
        session.out.value({"object": "checkout_url", "url": url})
    else:
        # A pipe means a program that opens the address, not one that reads JSON.
        session.out.line(url)
    if session.streams.person_reads and not print_only:
        open_page(session, url)


def _path(session: Session, order: str) -> str:
    with open_control(session) as control:
        control.health()
        return f"/checkout/{check_id(client_secret(session, control, order), 'id')}"
