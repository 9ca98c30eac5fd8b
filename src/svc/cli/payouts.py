"""`svc payouts`: send money to receiving banks."""

from typing import Annotated

import typer

from svc.cli.framework import options
from svc.cli.framework.app import listing, new_word, reading, writing
from svc.cli.framework.sending import send_list, send_read, send_write
from svc.cli.framework.session import Session
from svc.client.options import PAYOUT
from svc.client.resources import payouts
from svc.service.facts import PAYOUT_STATUSES

app = new_word("payouts")


@writing(app, fields=PAYOUT)
def create(ctx: typer.Context, wait: options.Wait = False) -> None:
    """Send a payout.

    $ svc payouts create --amount 10000 --currency EUR --source-currency USD --country DE --account-holder-name 'Muster GmbH' --iban DE89370400440532013000 --reference INV-7
    """  # noqa: E501  an example is one line
    send_write(Session.of(ctx), payouts.create, settles="payout" if wait else None)


@reading(app)
def retrieve(ctx: typer.Context, payout_id: options.PayoutId) -> None:
    """Retrieve a payout.

    $ svc payouts retrieve po_1gZh2iWj3kPq0aVb7cXd9eYf
    """
    send_read(Session.of(ctx), payouts.retrieve(payout_id))


@listing(app, "list")
def list_(
    ctx: typer.Context, status: Annotated[str | None, options.status(PAYOUT_STATUSES)] = None
) -> None:
    """List payouts, newest first.

    $ svc payouts list --status failed
    """
    send_list(Session.of(ctx), payouts.list, {"status": status})
