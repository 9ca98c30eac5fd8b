"""`svc orders`: create, retrieve, update, capture, cancel and list orders."""

from functools import partial
from typing import Annotated

import typer

from svc.cli.framework import options
from svc.cli.framework.app import listing, new_noun, verb, writing
from svc.cli.framework.inputs import Body, metadata_of, parse_item, without_empty
from svc.cli.framework.sending import send_list, send_read, send_write
from svc.cli.framework.session import Session
from svc.client.amounts import amount_option
from svc.client.resources import orders

app = new_noun("Create, retrieve, update, capture, cancel and list orders.")


@writing(app)
def create(
    ctx: typer.Context,
    amount: options.Amount = None,
    currency: options.Currency = None,
    country: options.Country = None,
    postal_code: options.PostalCode = None,
    settlement_currency: options.SettlementCurrency = None,
    capture_method: options.CaptureMethod = None,
    item: options.Items = None,
    metadata: options.Metadata = None,
) -> None:
    """Create an order.

    $ svc orders create --amount 12900 --currency EUR --country DE --postal-code 10115 --item 'name=Linen jacket,hs_code=6203.39,quantity=1,unit_amount=12900'
    """  # noqa: E501  an example is one line
    typed = order_fields(
        amount, currency, country, postal_code, settlement_currency, capture_method, item, metadata
    )
    send_write(Session.of(ctx), orders.create, typed)


@verb(app)
def retrieve(ctx: typer.Context, order_id: options.OrderId) -> None:
    """Retrieve an order.

    $ svc orders retrieve ord_3kPq0aVb7cXd9eYf1gZh2iWj
    """
    send_read(Session.of(ctx), orders.retrieve(order_id))


@writing(app)
def update(
    ctx: typer.Context,
    order_id: options.OrderId,
    amount: options.Amount = None,
    currency: options.Currency = None,
    country: options.Country = None,
    postal_code: options.PostalCode = None,
    settlement_currency: options.SettlementCurrency = None,
    capture_method: options.CaptureMethod = None,
    item: options.Items = None,
    metadata: options.Metadata = None,
) -> None:
    """Update an unpaid order. The destination and the items are replaced as a whole.

    $ svc orders update ord_3kPq0aVb7cXd9eYf1gZh2iWj --amount 14900
    """
    typed = order_fields(
        amount, currency, country, postal_code, settlement_currency, capture_method, item, metadata
    )
    send_write(Session.of(ctx), partial(orders.update, order_id), typed, changes=True)


@writing(app)
def cancel(
    ctx: typer.Context,
    order_id: options.OrderId,
    reason: Annotated[
        str | None, typer.Option(metavar="REASON", help="Sent as cancellation_reason.")
    ] = None,
) -> None:
    """Cancel an order that is not paid.

    An authorised payment is given back.

    $ svc orders cancel ord_3kPq0aVb7cXd9eYf1gZh2iWj --reason requested_by_customer
    """
    send_write(
        Session.of(ctx),
        partial(orders.cancel, order_id),
        without_empty(cancellation_reason=reason),
    )


@writing(app)
def capture(ctx: typer.Context, order_id: options.OrderId, amount: options.Amount = None) -> None:
    """Capture an authorised payment, in full or in part.

    The rest is released at once.

    $ svc orders capture ord_3kPq0aVb7cXd9eYf1gZh2iWj --amount 10000
    """
    send_write(
        Session.of(ctx),
        partial(orders.capture, order_id),
        without_empty(amount=amount_option(amount, "--amount", None)),
    )


@listing(app, "list")
def list_(ctx: typer.Context, status: options.Status = None) -> None:
    """List orders, newest first.

    $ svc orders list --status paid --all -o csv
    """
    send_list(Session.of(ctx), orders.list, without_empty(status=status))


def order_fields(
    amount: str | None,
    currency: str | None,
    country: str | None,
    postal_code: str | None,
    settlement_currency: str | None,
    capture_method: str | None,
    item: list[str] | None,
    metadata: list[str] | None,
) -> Body:
    """Builds the documented fields of an order from the options that were given."""
    return without_empty(
        amount=amount_option(amount, "--amount", currency),
        currency=currency,
        settlement_currency=settlement_currency,
        shipping=without_empty(country=country, postal_code=postal_code),
        items=[parse_item(text, currency) for text in item or []],
        capture_method=capture_method,
        metadata=metadata_of(metadata),
    )
