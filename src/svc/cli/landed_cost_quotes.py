"""`svc landed-cost-quotes` (short: `svc quotes`): duties, taxes and fees."""

from typing import Annotated

import typer

from svc.cli.framework import options
from svc.cli.framework.app import new_noun, verb, writing
from svc.cli.framework.inputs import parse_item, without_empty
from svc.cli.framework.sending import send_read, send_write
from svc.cli.framework.session import Session
from svc.client.amounts import amount_option
from svc.client.resources import quotes

app = new_noun("Quote duties, taxes and fees.")


@writing(app)
def create(
    ctx: typer.Context,
    currency: options.Currency = None,
    country: options.Country = None,
    postal_code: options.PostalCode = None,
    item: options.Items = None,
    ship_from_country: Annotated[
        str | None, typer.Option(metavar="CODE", help="Where it is sent from.")
    ] = None,
    shipping_amount: Annotated[
        str | None, typer.Option(metavar="N", help="Freight in minor units.")
    ] = None,
) -> None:
    """Request a landed-cost quote.

    Missing tariff codes come back as warnings.

    $ svc quotes create --currency EUR --country DE --item 'name=Linen jacket,hs_code=620339,origin_country=IT,quantity=1,unit_amount=12900'
    """  # noqa: E501  an example is one line
    typed = without_empty(
        currency=currency,
        shipping=without_empty(country=country, postal_code=postal_code),
        items=[parse_item(text, currency) for text in item or []],
        ship_from_country=ship_from_country,
        shipping_amount=amount_option(shipping_amount, "--shipping-amount", currency, least=0),
    )
    send_write(Session.of(ctx), quotes.create, typed)


@verb(app)
def retrieve(ctx: typer.Context, quote_id: options.QuoteId) -> None:
    """Retrieve a landed-cost quote.

    $ svc quotes retrieve lcq_2iWj3kPq0aVb7cXd9eYf1gZh
    """
    send_read(Session.of(ctx), quotes.retrieve(quote_id))
