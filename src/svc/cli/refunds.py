"""`svc refunds`: return all or part of a payment."""

from typing import Annotated

import typer

from svc.cli.framework import options
from svc.cli.framework.app import listing, new_word, reading, writing
from svc.cli.framework.sending import send_list, send_read, send_write
from svc.cli.framework.session import Session
from svc.client.options import REFUND
from svc.client.resources import refunds
from svc.service.facts import REFUND_STATUSES

app = new_word("refunds")


@writing(app, fields=REFUND)
def create(ctx: typer.Context, wait: options.Wait = False) -> None:
    """Refund a payment; without --amount all that is left.

    $ svc refunds create --payment pay_7cXd9eYf1gZh2iWj3kPq0aVb --amount 4999
    """
    send_write(Session.of(ctx), refunds.create, settles="refund" if wait else None)


@reading(app)
def retrieve(ctx: typer.Context, refund_id: options.RefundId) -> None:
    """Retrieve a refund.

    $ svc refunds retrieve rf_9eYf1gZh2iWj3kPq0aVb7cXd
    """
    send_read(Session.of(ctx), refunds.retrieve(refund_id))


@listing(app, "list")
def list_(
    ctx: typer.Context,
    payment: Annotated[str | None, options.id_of("payment")] = None,
    status: Annotated[str | None, options.status(REFUND_STATUSES)] = None,
) -> None:
    """List refunds, newest first.

    $ svc refunds list --status pending
    """
    send_list(Session.of(ctx), refunds.list, {"payment": payment, "status": status})
