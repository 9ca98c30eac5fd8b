"""What a merchant sees in the dashboard: settings and balances (assumptions: Settings)."""

from typing import Annotated

import typer

from svc.cli.app import verb
from svc.cli.fields import pairs_of
from svc.cli.sandbox_app import app
from svc.cli.sandbox_call import open_control, show, tell
from svc.cli.session import Session
from svc.client import controls
from svc.client.amounts import amount_option
from svc.spec import AMOUNT_MAX


@verb(app)
def settings(
    ctx: typer.Context,
    changes: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KEY=VALUE]...", help="What to change", show_default=False),
    ] = None,
) -> None:
    """Show the account's settings, or change some.

    $ svc sandbox settings smart_retries=true country=DE
    """
    changed = pairs_of(changes, "A setting")
    # As a form: the sandbox knows which of the values are numbers and which are words.
    changing = controls.change_settings(changed)._replace(encoding="form")
    tell(Session.of(ctx), changing if changed else controls.settings())


@verb(app)
def balances(
    ctx: typer.Context,
    changes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CURRENCY=AMOUNT]...",
            help="Balances to set, in minor units",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Show the balances for payouts, or set some.

    $ svc sandbox balances USD=500000
    """
    session = Session.of(ctx)
    wanted = {
        currency: amount_option(amount, currency, currency, least=-AMOUNT_MAX)
        for currency, amount in pairs_of(changes, "A balance").items()
    }
    mode, _ = session.settings.mode, session.out
    with open_control(session) as control:
        for currency, amount in wanted.items():
            body = {"currency": currency, "amount": amount}
            control.send(controls.in_mode(controls.set_balance(body), mode))
        reply = control.send(controls.in_mode(controls.balances(), mode))
    show(session, reply)
