"""`svc landed-cost-quotes` (short: `svc quotes`): duties, taxes and fees."""

import typer

from svc.cli.framework import options
from svc.cli.framework.app import new_word, reading, writing
from svc.cli.framework.sending import send_read, send_write
from svc.cli.framework.session import Session
from svc.client.options import QUOTE
from svc.client.resources import quotes

app = new_word("landed-cost-quotes")


@writing(app, fields=QUOTE)
def create(ctx: typer.Context) -> None:
    """Request a landed-cost quote.

    Missing tariff codes come back as warnings.

    $ svc quotes create --currency EUR --country DE --item 'name=Linen jacket,hs_code=620339,origin_country=IT,quantity=1,unit_amount=12900'
    """  # noqa: E501  an example is one line
    send_write(Session.of(ctx), quotes.create)


@reading(app)
def retrieve(ctx: typer.Context, quote_id: options.QuoteId) -> None:
    """Retrieve a landed-cost quote.

    $ svc quotes retrieve lcq_2iWj3kPq0aVb7cXd9eYf1gZh
    """
    send_read(Session.of(ctx), quotes.retrieve(quote_id))
