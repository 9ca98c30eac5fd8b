"""`svc orders`: create, retrieve, update, capture, cancel and list orders."""

from functools import partial
from typing import Annotated

import typer

from svc.cli.framework import options
from svc.cli.framework.app import listing, new_word, reading, writing
from svc.cli.framework.sending import send_list, send_read, send_write
from svc.cli.framework.session import Session
from svc.client.options import CANCELLATION, CAPTURE, ORDER, ORDER_UPDATE
from svc.client.resources import orders
from svc.service.facts import ORDER_STATUSES

app = new_word("orders")


@writing(app, fields=ORDER)
def create(ctx: typer.Context) -> None:
    """Create an order.

    $ svc orders create --amount 12900 --currency EUR --country DE --postal-code 10115 --item 'name=Linen jacket,hs_code=6203.39,quantity=1,unit_amount=12900'
    """  # noqa: E501  an example is one line
    send_write(Session.of(ctx), orders.create)


@reading(app)
def retrieve(ctx: typer.Context, order_id: options.OrderId) -> None:
    """Retrieve an order.

    $ svc orders retrieve ord_3kPq0aVb7cXd9eYf1gZh2iWj
    """
    send_read(Session.of(ctx), orders.retrieve(order_id))


@writing(app, fields=ORDER_UPDATE)
def update(ctx: typer.Context, order_id: options.OrderId) -> None:
    """Update an unpaid order. The destination and the items are replaced as a whole.

    $ svc orders update ord_3kPq0aVb7cXd9eYf1gZh2iWj --amount 14900
    """
    send_write(Session.of(ctx), partial(orders.update, order_id), changes=True)


@writing(app, fields=CANCELLATION)
def cancel(ctx: typer.Context, order_id: options.OrderId) -> None:
    """Cancel an order that is not paid.

    An authorised payment is given back.

    $ svc orders cancel ord_3kPq0aVb7cXd9eYf1gZh2iWj --reason requested_by_customer
    """
    send_write(Session.of(ctx), partial(orders.cancel, order_id))


@writing(app, fields=CAPTURE)
def capture(ctx: typer.Context, order_id: options.OrderId) -> None:
    """Capture an authorised payment, in full or in part.

    The rest is released at once.

    $ svc orders capture ord_9eYf1gZh2iWj3kPq0aVb7cXd --amount 10000
    """
    send_write(Session.of(ctx), partial(orders.capture, order_id))


@listing(app, "list")
def list_(
    ctx: typer.Context, status: Annotated[str | None, options.status(ORDER_STATUSES)] = None
) -> None:
    """List orders, newest first.

    $ svc orders list --status paid --all -o csv
    """
    send_list(Session.of(ctx), orders.list, {"status": status})
