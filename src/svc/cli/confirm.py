"""Asking before money moves in live mode (promise R19, cli section 4)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from svc.cli.session import Session
from svc.errors import UsageError
from svc.money import format_amount

if TYPE_CHECKING:
    from svc.client.intents_model import Intent

# Without an amount these move all that there is.
_ALL_OF_IT = ("refund", "capture")


def confirm_money(session: Session, action: str | None, body: Mapping[str, object]) -> None:
    """Asks at a terminal; elsewhere `--yes` must stand on the command line.

    What counts is the mode of the key in use; `action` is None where no money moves.

    Raises:
        UsageError: when nobody can be asked and `--yes` is not given; nothing was sent.
    """
    if action is None or session.key.mode != "live":
        return
    settings = session.settings
    what = f"{action}{_sum_of(action, body)}, live mode, profile {settings.profile}"
    _confirm(session, f"This moves real money: {what}, at {settings.base_url}.")


def confirm_other_key(session: Session, intent: "Intent") -> None:
    """Asks before a request goes out under another key than before.

    A key that was rolled is of the same account, where the service knows the request; in another
    account it would be carried out a second time.

    Raises:
        UsageError: when nobody can be asked and `--yes` is not given; nothing was sent.
    """
    before, now = intent.scope.key_hint, session.key.fingerprint
    if before == now or _was_rolled(session, before):
        return
    _confirm(
        session,
        f"The request {intent.id} was sent with the key {before}; this is {now}. If that is "
        "another account, it would be carried out a second time.",
    )


def _confirm(session: Session, why: str) -> None:
    if session.given.everywhere.yes:
        return
    if session.given.everywhere.no_input or not session.streams.person_answers:
        raise UsageError(
            f"{why} Nothing was sent.",
            code="confirmation_required",
            param="--yes",
            hint="Add --yes to go ahead",
        )
    session.streams.stderr.write(f"{why}\nGo ahead? [y/N] ")
    session.streams.stderr.flush()
    if session.streams.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("Stopped: the answer was not yes. Nothing was sent.", code="not_confirmed")


def _was_rolled(session: Session, before: str) -> bool:
    """Whether the key facts say that the key in use took the place of that one."""
    now = session.key.fingerprint
    return any(
        fact.fingerprint == now and fact.old_fingerprint == before
        for fact in session.key_facts.every(profile=session.settings.profile)
    )


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
