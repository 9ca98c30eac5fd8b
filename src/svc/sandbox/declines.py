"""What a declined payment is told: failure texts and the codes of card errors."""

from typing import Final

_MESSAGES: Final = {
    "account_closed": "The account behind the card is closed.",
    "authentication_failed": "The shopper did not authenticate the payment.",
    "do_not_honor": "The bank declined the payment without a reason.",
    "expired_card": "The card has expired.",
    "fraudulent": "The payment was declined as suspected fraud.",
    "generic_decline": "The bank declined the payment.",
    "incorrect_cvc": "The card's security code is wrong.",
    "incorrect_number": "The card number is wrong.",
    "insufficient_funds": "The account does not hold enough.",
    "live_mode_test_card": "The sandbox takes no payments in live mode.",
    "lost_card": "The card was reported lost.",
    "processing_error": "An error occurred while the payment was processed; try again.",
    "stolen_card": "The card was reported stolen.",
}
_OWN_CODES: Final = frozenset(
    {
        "authentication_failed",
        "expired_card",
        "incorrect_cvc",
        "incorrect_number",
        "processing_error",
    }
)


def message_for(code: str) -> str:
    """The text for people that goes with a failure code."""
    return _MESSAGES.get(code, f"The payment was declined: {code}.")


def error_code(failure_code: str) -> str:
    """The `code` of the 402 answer: its own where the catalogue has one, else `card_declined`."""
    return failure_code if failure_code in _OWN_CODES else "card_declined"
