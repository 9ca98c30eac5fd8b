"""Builds the command lines of hints: how to resume a request, and how to see its effect.

Errors of `delivery` and of `cli` end with these lines, to be copied into a shell.
"""

from collections.abc import Callable
from typing import TypeAlias

from svc.clock import utc
from svc.delivery.journal.entry import Intent, Scope
from svc.delivery.likeness import UnreadableBody, fields_of

# A clock that differs a little from the service's must not hide the object.
_MARGIN_SECONDS = 300

# Writes out the words of a command, such as `orders list`, for the profile and address of a scope.
FormatCommand: TypeAlias = Callable[[Scope, str], str]


def format_full_command(scope: Scope, words: str) -> str:
    """Completes a command line with the profile, mode and address of a request."""
    live = " --live" if scope.mode == "live" else ""
    return f"svc {words} --profile {scope.profile} --base-url {scope.base_url}{live}"


def resume_command(intent: Intent) -> str:
    """The command line that sends a request again with its own idempotency key."""
    return resume_of(intent.id, intent.scope.mode)


def resume_of(request: str, mode: str) -> str:
    """The command line that resumes a request by its id.

    Only the mode has to be given: profile and address are read from the record.
    """
    return f"svc requests resume {request}{' --live' if mode == 'live' else ''}"


def suggest_lookup(intent: Intent, format_command: FormatCommand) -> str:
    """The sentence `See what it did: svc ...`, with a command that shows what the request did."""
    words = _command(intent)
    if words is None:
        return "Look at the service's dashboard for what it did"
    return f"See what it did: {format_command(intent.scope, words)}"


def _command(intent: Intent) -> str | None:
    since = f"--all --created-gte {utc(intent.first_sent_at - _MARGIN_SECONDS)}"
    match intent.stored.path.split("/")[2:]:
        case ["orders"]:
            return f"orders list {since}"
        case ["orders", order, *_]:
            return f"orders retrieve {order}"
        case ["refunds"]:  # by its payment, as the list of refunds may fail
            payment = _read_payment(intent)
            return f"payments retrieve {payment}" if payment else "refunds list --all"
        case ["payouts"]:
            return f"payouts list {since}"
        case ["disputes", dispute, *_]:
            return f"disputes retrieve {dispute}"
    return None


def _read_payment(intent: Intent) -> str | None:
    try:
        payment = fields_of(intent.stored.encoding, intent.stored.body).get("payment")
    except UnreadableBody:
        return None
    is_plain = isinstance(payment, str) and payment.isascii() and payment.replace("_", "").isalnum()
    return str(payment) if is_plain else None
