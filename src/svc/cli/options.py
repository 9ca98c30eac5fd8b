"""Arguments and options that more than one command takes, named once."""

from typing import Annotated

import typer

OrderId = Annotated[
    str, typer.Argument(metavar="ID", help="The order, ord_...", show_default=False)
]
PaymentId = Annotated[
    str, typer.Argument(metavar="ID", help="The payment, pay_...", show_default=False)
]
RefundId = Annotated[
    str, typer.Argument(metavar="ID", help="The refund, rf_...", show_default=False)
]
PayoutId = Annotated[
    str, typer.Argument(metavar="ID", help="The payout, po_...", show_default=False)
]
QuoteId = Annotated[
    str, typer.Argument(metavar="ID", help="The quote, lcq_...", show_default=False)
]
DisputeId = Annotated[
    str, typer.Argument(metavar="ID", help="The dispute, dp_...", show_default=False)
]
EventId = Annotated[
    str, typer.Argument(metavar="ID", help="The event, evt_...", show_default=False)
]

Amount = Annotated[str | None, typer.Option(metavar="N", help="Minor units: 12900 is 129.00 EUR.")]
Currency = Annotated[str | None, typer.Option(metavar="CODE", help="ISO 4217, as EUR.")]
SettlementCurrency = Annotated[
    str | None, typer.Option(metavar="CODE", help="What you are settled in.")
]
Country = Annotated[str | None, typer.Option(metavar="CODE", help="Destination, as DE.")]
PostalCode = Annotated[str | None, typer.Option(metavar="TEXT", help="Destination's postal code.")]
CaptureMethod = Annotated[
    str | None, typer.Option(metavar="METHOD", help="automatic, or manual to authorise first.")
]
Items = Annotated[
    list[str] | None,
    typer.Option(
        "--item",
        metavar="NAME=VALUE,...",
        help="Repeatable: name, quantity, unit_amount, hs_code, as 'name=Jacket,quantity=1,...'.",
    ),
]
Metadata = Annotated[
    list[str] | None,
    typer.Option("--metadata", metavar="KEY=TEXT", help="Repeatable: your own notes."),
]
Status = Annotated[str | None, typer.Option(metavar="STATUS", help="Only these.")]
Wait = Annotated[
    bool, typer.Option("--wait", help="Wait until it is settled, at most --max-time seconds.")
]
