"""Asking before money moves in live mode (promise R19)."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from svc.cli.asking import confirm, will_ask
from svc.cli.session import Session
from svc.money import format_amount

if TYPE_CHECKING:
    from svc.client.call import Call
    from svc.client.client import Client
    from svc.client.journal.entry import Intent

# Without an amount these move all that there is.
_ALL_OF_IT = ("refund", "capture")


def confirm_money(
    session: Session,
    action: str | None,
    body: Mapping[str, object],
    *,
    client: "Client | None" = None,
    about: "Callable[[dict[str, Any]], Call | None] | None" = None,
) -> None:
    """Asks at a terminal; elsewhere `--yes` must stand on the command line.

    What counts is the mode of the key in use; `action` is None where no money moves. `about` reads
    the object whose money it is, where the request itself does not name the currency.

    Raises:
        UsageError: when nobody can be asked and `--yes` is not given; nothing was sent.
    """
    if action is None or session.key.mode != "live":
        return
    settings = session.settings
    known = dict(body)
    if client is not None and about is not None and will_ask(session):
        call = about(known)
        known = {**(_money_of(client.send(call).data) if call else {}), **body}
    what = f"{action}{_sum_of(action, known)}"
    where = f"live mode, profile {settings.profile}"
    confirm(session, f"This moves real money: {what}", where, f"{settings.base_url}.")


def confirm_other_key(session: Session, intent: "Intent") -> None:
    """Asks before a request goes out under a key that may be of another account than before.

    Raises:
        UsageError: when nobody can be asked and `--yes` is not given; nothing was sent.
    """
    before, now = intent.scope.key_hint, session.key.fingerprint
    confirm(
        session,
        f"The request {intent.id} was sent with the key {before}; this is {now}. If that is "
        "another account, it would be carried out a second time.",
    )


def _money_of(data: Any) -> dict[str, object]:
    """Currency and whole sum of an order or a payment, as far as the service tells them."""
    if not isinstance(data, dict):
        return {}
    whole = "amount_captured" if data.get("object") == "payment" else "amount_total"
    return {"currency": data.get("currency"), "amount": data.get(whole)}


def _sum_of(action: str, body: Mapping[str, object]) -> str:
    """The amount in words, after a comma; nothing where the request has none."""
    amount, currency = body.get("amount"), body.get("currency")
    if isinstance(amount, str) and amount.isascii() and amount.isdigit():
        amount = int(amount)  # a form says it as text
    if isinstance(amount, int) and isinstance(currency, str):
        return f", {format_amount(amount, currency)}"
    if amount is not None:
        return f", {amount} in minor units"
    return ", the full amount" if action.startswith(_ALL_OF_IT) else ""
