"""What the service sends: events and how their deliveries went, e-mails."""

from typing import Annotated

import typer

from svc.cli import options
from svc.cli.app import verb
from svc.cli.fields import present
from svc.cli.sandbox_app import app
from svc.cli.sandbox_call import tell, tell_page
from svc.cli.sandbox_options import Limit
from svc.cli.session import Session
from svc.client import controls

Endpoint = Annotated[str | None, typer.Option(metavar="ID", help="Only to this one, we_... .")]


@verb(app)
def events(
    ctx: typer.Context,
    event_type: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Only these, as order.paid.")
    ] = None,
    limit: Limit = None,
    starting_after: Annotated[
        str | None, typer.Option(metavar="ID", help="Begin behind this one, evt_... .")
    ] = None,
) -> None:
    """List events, newest first, delivered or not.

    $ svc sandbox events --type order.paid
    """
    query = present(type=event_type, limit=limit, starting_after=starting_after)
    tell_page(Session.of(ctx), controls.events(query), "sandbox events", query)


@verb(app)
def deliveries(
    ctx: typer.Context,
    event: Annotated[
        str | None, typer.Option(metavar="ID", help="Only of this event, evt_... .")
    ] = None,
    endpoint: Endpoint = None,
    status: options.Status = None,
    limit: Limit = None,
    starting_after: Annotated[
        str | None, typer.Option(metavar="ID", help="Begin behind this one, dlv_... .")
    ] = None,
) -> None:
    """List webhook attempts, newest first. Each has its address and what came back.

    $ svc sandbox deliveries --status failed
    """
    query = present(
        event=event,
        endpoint=endpoint,
        status=status,
        limit=limit,
        starting_after=starting_after,
    )
    tell_page(Session.of(ctx), controls.deliveries(query), "sandbox deliveries", query)


@verb(app)
def resend(ctx: typer.Context, event: options.EventId, endpoint: Endpoint = None) -> None:
    """Deliver an event once more, now.

    $ svc sandbox resend evt_3kPq0aVb7cXd9eYf1gZh2iWj
    """
    tell(Session.of(ctx), controls.resend(event, endpoint))


@verb(app)
def emails(
    ctx: typer.Context,
    limit: Limit = None,
    starting_after: Annotated[
        str | None, typer.Option(metavar="ID", help="Begin behind this one, eml_... .")
    ] = None,
) -> None:
    """List the e-mails that the service would have sent, newest first.

    $ svc sandbox emails
    """
    query = present(limit=limit, starting_after=starting_after)
    tell_page(Session.of(ctx), controls.emails(query), "sandbox emails", query)
