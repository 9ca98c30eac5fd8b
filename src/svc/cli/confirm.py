"""Asking before money moves in live mode (promise R19, cli section 4)."""

from svc.cli.body import Body
from svc.cli.session import Session
from svc.errors import UsageError
from svc.money import format_amount


def confirm_money(session: Session, action: str | None, body: Body) -> None:
    """Asks at a terminal; elsewhere `--yes` must stand on the command line.

    Raises:
        UsageError: when nobody can be asked and `--yes` is not given; nothing was sent.
    """
    settings = session.settings
    if action is None or settings.mode != "live" or session.given.everywhere.yes:
        return
    what = f"{action}, {_sum_of(body)}, live mode, profile {settings.profile}"
    if session.given.everywhere.no_input or not session.streams.person_answers:
        raise UsageError(f"This moves real money ({what}).", hint="Add --yes to go ahead")
    session.streams.stderr.write(f"About to {what}, at {settings.base_url}.\nGo ahead? [y/N] ")
    session.streams.stderr.flush()
    if session.streams.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("Stopped: the answer was not yes. Nothing was sent.")


def _sum_of(body: Body) -> str:
    amount, currency = body.get("amount"), body.get("currency")
    if isinstance(amount, int) and isinstance(currency, str):
        return format_amount(amount, currency)
    if amount is not None:
        return f"{amount} in minor units"
    return "the full amount"
