"""`svc payments`: retrieve and list payments."""

from typing import Annotated

import typer

from svc.cli import options
from svc.cli.app import listing, new_noun, verb
from svc.cli.fields import present
from svc.cli.sending import send_list, send_read
from svc.cli.session import Session
from svc.client import payments

app = new_noun("Retrieve and list payments.")


@verb(app)
def retrieve(ctx: typer.Context, payment_id: options.PaymentId) -> None:
    """Retrieve a payment.

    $ svc payments retrieve pay_7cXd9eYf1gZh2iWj3kPq0aVb
    """
    send_read(Session.of(ctx), payments.retrieve(payment_id))


@listing(app, "list")
def list_(
    ctx: typer.Context,
    order: Annotated[str | None, typer.Option(metavar="ID", help="Only of this order.")] = None,
    status: options.Status = None,
) -> None:
    """List payments, newest first.

    $ svc payments list --status failed --limit 10
    """
    send_list(Session.of(ctx), payments.list, present(order=order, status=status))
