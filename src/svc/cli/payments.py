"""`svc payments`: retrieve and list payments."""

from typing import Annotated

import typer

from svc.cli.framework import options
from svc.cli.framework.app import listing, new_word, reading
from svc.cli.framework.sending import send_list, send_read
from svc.cli.framework.session import Session
from svc.client.resources import payments
from svc.service.facts import PAYMENT_STATUSES

app = new_word("payments")


@reading(app)
def retrieve(ctx: typer.Context, payment_id: options.PaymentId) -> None:
    """Retrieve a payment.

    $ svc payments retrieve pay_7cXd9eYf1gZh2iWj3kPq0aVb
    """
    send_read(Session.of(ctx), payments.retrieve(payment_id))


@listing(app, "list")
def list_(
    ctx: typer.Context,
    order: Annotated[str | None, options.id_of("order")] = None,
    status: Annotated[str | None, options.status(PAYMENT_STATUSES)] = None,
) -> None:
    """List payments, newest first.

    $ svc payments list --status failed --limit 10
    """
    send_list(Session.of(ctx), payments.list, {"order": order, "status": status})
