"""What each create cannot do without, as the specification has it, with an example."""

from typing import Final

from svc.client.options import ENDPOINT, ORDER, PAYOUT, QUOTE, REFUND

NEEDS: Final = {
    "orders create": ("--amount", "--currency", "--country", "--item"),
    "landed-cost-quotes create": ("--currency", "--country", "--item"),
    "refunds create": ("--payment",),
    "payouts create": ("--amount", "--currency", "--country", "--account-holder-name"),
    "webhook-endpoints create": ("--url", "--events"),
}
_ROWS: Final = (ORDER, QUOTE, REFUND, PAYOUT, ENDPOINT)
EXAMPLES: Final = {
    command: {row.name: row.example for row in rows}
    for command, rows in zip(NEEDS, _ROWS, strict=True)
}
