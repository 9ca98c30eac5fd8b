"""`svc payouts`: send money to receiving banks."""

from typing import Annotated

import typer

from svc.cli.framework import options
from svc.cli.framework.app import listing, new_noun, verb, writing
from svc.cli.framework.inputs import metadata_of, without_empty
from svc.cli.framework.sending import send_list, send_read, send_write
from svc.cli.framework.session import Session
from svc.client.amounts import amount_option
from svc.client.resources import payouts

app = new_noun("Send money to receiving banks.")


@writing(app)
def create(
    ctx: typer.Context,
    amount: options.Amount = None,
    currency: options.Currency = None,
    source_currency: Annotated[
        str | None, typer.Option(metavar="CODE", help="The balance to debit.")
    ] = None,
    country: Annotated[str | None, typer.Option(metavar="CODE", help="The bank's country.")] = None,
    account_holder_name: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Who is paid.")
    ] = None,
    iban: Annotated[str | None, typer.Option(metavar="IBAN", help="Or account number.")] = None,
    account_number: Annotated[
        str | None, typer.Option(metavar="DIGITS", help="With --bank-code.")
    ] = None,
    bank_code: Annotated[
        str | None, typer.Option(metavar="CODE", help="Routing or sort code.")
    ] = None,
    bic: Annotated[str | None, typer.Option(metavar="BIC", help="The bank's BIC.")] = None,
    bank_name: Annotated[str | None, typer.Option(metavar="TEXT", help="The bank's name.")] = None,
    reference: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Shown to the beneficiary.")
    ] = None,
    metadata: options.Metadata = None,
    wait: options.Wait = False,
) -> None:
    """Send a payout.

    $ svc payouts create --amount 10000 --currency EUR --source-currency USD --country DE --account-holder-name 'Muster GmbH' --iban DE89370400440532013000 --reference INV-7
    """  # noqa: E501  an example is one line
    typed = without_empty(
        amount=amount_option(amount, "--amount", currency),
        currency=currency,
        source_currency=source_currency,
        destination=without_empty(
            country=country,
            account_holder_name=account_holder_name,
            iban=iban,
            account_number=account_number,
            bank_code=bank_code,
            bic=bic,
            bank_name=bank_name,
        ),
        reference=reference,
        metadata=metadata_of(metadata),
    )
    send_write(
        Session.of(ctx),
        payouts.create,
        typed,
        settles="payout" if wait else None,
    )


@verb(app)
def retrieve(ctx: typer.Context, payout_id: options.PayoutId) -> None:
    """Retrieve a payout.

    $ svc payouts retrieve po_1gZh2iWj3kPq0aVb7cXd9eYf
    """
    send_read(Session.of(ctx), payouts.retrieve(payout_id))


@listing(app, "list")
def list_(ctx: typer.Context, status: options.Status = None) -> None:
    """List payouts, newest first.

    $ svc payouts list --status failed
    """
    send_list(Session.of(ctx), payouts.list, without_empty(status=status))
