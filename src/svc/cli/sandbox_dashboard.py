"""What a merchant sees in the dashboard: settings, balances, deliveries (contract F.1, F.5)."""

import shlex
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from svc.cli import options
from svc.cli.amounts import amount_option
from svc.cli.app import verb
from svc.cli.fields import pairs_of, present
from svc.cli.sandbox_app import app
from svc.cli.sandbox_control import Control
from svc.cli.session import Session
from svc.client.call import segment

Endpoint = Annotated[str | None, typer.Option(metavar="ID", help="Only to this one, we_... .")]


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
    session = Session.of(ctx)
    changed = pairs_of(changes, "A setting")
    with Control(session) as control:
        answer = control.post("/settings", changed) if changed else control.get("/settings")
        session.out.one(*answer)


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
        currency: str(amount_option(amount, currency, currency))
        for currency, amount in pairs_of(changes, "A balance").items()
    }
    with Control(session) as control:
        for currency, amount in wanted.items():
            control.post("/balances", {"currency": currency, "amount": amount})
        text, data = control.get("/balances")
        session.out.page(text, data, next_command=None)


@verb(app)
def deliveries(
    ctx: typer.Context,
    event: Annotated[
        str | None, typer.Option(metavar="ID", help="Only of this event, evt_... .")
    ] = None,
    endpoint: Endpoint = None,
    status: options.Status = None,
    limit: Annotated[
        int | None, typer.Option(metavar="1..100", help="Attempts a page (25).")
    ] = None,
    starting_after: Annotated[
        str | None, typer.Option(metavar="ID", help="Begin behind this one, dlv_... .")
    ] = None,
) -> None:
    """List webhook attempts, newest first. Each has its address and what came back.

    $ svc sandbox deliveries --status failed
    """
    session = Session.of(ctx)
    query = present(
        event=event,
        endpoint=endpoint,
        status=status,
        limit=None if limit is None else str(limit),
        starting_after=starting_after,
    )
    with Control(session) as control:
        text, data = control.get("/deliveries", query)
        session.out.page(text, data, next_command=_next_page(query, data))


@verb(app)
def resend(ctx: typer.Context, event: options.EventId, endpoint: Endpoint = None) -> None:
    """Deliver an event once more, now.

    $ svc sandbox resend evt_3kPq0aVb7cXd9eYf1gZh2iWj
    """
    session = Session.of(ctx)
    with Control(session) as control:
        path = f"/events/{segment(event)}/resend"
        text, data = control.post(path, present(endpoint=endpoint))
        session.out.page(text, data, next_command=None)


def _next_page(query: Mapping[str, str], page: Mapping[str, Any]) -> str | None:
    if not page.get("has_more") or not page.get("data"):
        return None
    following = {**query, "starting_after": str(page["data"][-1]["id"])}
    words = [
        word for name, value in following.items() for word in (f"--{name.replace('_', '-')}", value)
    ]
    return shlex.join(["svc", "sandbox", "deliveries", *words])
