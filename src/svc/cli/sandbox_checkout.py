"""`svc sandbox checkout`: the shopper's page of an order."""

from typing import Annotated

import typer

from svc.cli.app import verb
from svc.cli.browser import open_page
from svc.cli.sandbox_app import app
from svc.cli.sandbox_call import client_secret, open_control
from svc.cli.session import Session
from svc.client.call import segment
from svc.spec import SANDBOX_KEYS


@verb(app)
def checkout(
    ctx: typer.Context,
    order: Annotated[
        str,
        typer.Argument(
            metavar="ORDER", help="ord_..., or the order's client secret", show_default=False
        ),
    ],
    print_only: Annotated[
        bool, typer.Option("--print", help="Print the address and open nothing.")
    ] = False,
) -> None:
    """Open the page on which the shopper pays an order.

    In a pipe, print its address.

    $ svc sandbox checkout ord_3kPq0aVb7cXd9eYf1gZh2iWj
    $ svc sandbox checkout ord_3kPq0aVb7cXd9eYf1gZh2iWj --print
    """
    session = Session.of(ctx)
    key = session.publishable_key()
    url = session.base_url.url(_path(session, order))
    if key not in SANDBOX_KEYS.values():  # the page needs no other one than its own
        url += f"?key={key}"
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
        return f"/checkout/{segment(client_secret(session, control, order))}"
