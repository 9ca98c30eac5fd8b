"""`svc refunds`: return all or part of a payment."""

from typing import Annotated

import typer

from svc.cli.framework import options
from svc.cli.framework.app import listing, new_noun, verb, writing
from svc.cli.framework.inputs import metadata_of, without_empty
from svc.cli.framework.sending import send_list, send_read, send_write
from svc.cli.framework.session import Session
from svc.client.amounts import amount_option
from svc.client.resources import refunds

app = new_noun("Return all or part of a payment.")


@writing(app)
def create(
    ctx: typer.Context,
    payment: Annotated[str | None, typer.Option(metavar="ID", help="The payment, pay_...")] = None,
    amount: options.Amount = None,
    reason: Annotated[
        str | None,
        typer.Option(
            metavar="REASON", help="Such as duplicate, fraudulent, requested_by_customer."
        ),
    ] = None,
    metadata: options.Metadata = None,
    wait: options.Wait = False,
) -> None:
    """Refund a payment; without --amount all that is left.

    $ svc refunds create --payment pay_7cXd9eYf1gZh2iWj3kPq0aVb --amount 4999
    """
    typed = without_empty(
        payment=payment,
        amount=amount_option(amount, "--amount", None),
        reason=reason,
        metadata=metadata_of(metadata),
    )
    send_write(
        Session.of(ctx),
        refunds.create,
        typed,
        settles="refund" if wait else None,
    )


@verb(app)
def retrieve(ctx: typer.Context, refund_id: options.RefundId) -> None:
    """Retrieve a refund.

    $ svc refunds retrieve rf_9eYf1gZh2iWj3kPq0aVb7cXd
    """
    send_read(Session.of(ctx), refunds.retrieve(refund_id))


@listing(app, "list")
def list_(
    ctx: typer.Context,
    payment: Annotated[str | None, typer.Option(metavar="ID", help="Only of this payment.")] = None,
    status: options.Status = None,
) -> None:
    """List refunds, newest first.

    $ svc refunds list --status pending
    """
    send_list(Session.of(ctx), refunds.list, without_empty(payment=payment, status=status))
