"""Every POST operation of the program, as a command line."""

from typing import Final

_IN_EUROS: Final = ("--currency", "EUR", "--country", "DE")
_ITEM: Final = ("--item", "name=Jacket,quantity=1,unit_amount=12900")
OPERATIONS: Final = {
    "create": ("orders", "create", "--amount", "12900", *_IN_EUROS, *_ITEM),
    "update": ("orders", "update", "ord_1", "--amount", "14900"),
    "cancel": ("orders", "cancel", "ord_1", "--reason", "requested_by_customer"),
    "capture": ("orders", "capture", "ord_1"),
    "refund": ("refunds", "create", "--payment", "pay_1", "--amount", "4999"),
    "payout": (
        *("payouts", "create", "--amount", "10000", *_IN_EUROS),
        *("--account-holder-name", "Person 1", "--iban", "DE89370400440532013000"),
    ),
    "quote": ("quotes", "create", *_IN_EUROS, *_ITEM),
    "endpoint": (
        *("webhook-endpoints", "create", "--url", "https://shop.example/hook"),
        *("--events", "order.paid"),
    ),
    "evidence": ("disputes", "update", "dp_1", "--tracking-number", "1Z999", "--submit"),
    "accept": ("disputes", "accept", "dp_1"),
    "raw refund": ("post", "/v1/refunds", "-d", "payment=pay_1", "-d", "amount:=4999"),
    "raw": ("post", "/v1/gift_cards", "-d", "amount:=500"),
}


def command(operation: str, mark: str) -> tuple[str, ...]:
    """The command line of an operation, with a mark in its body that the ledger knows it by."""
    return (*OPERATIONS[operation], "-d", f"metadata[note]={mark}")
