"""Where to see what an unresolved request did, when it must not be sent again (promise R4)."""

from svc.client.intents_model import Intent, moment
from svc.client.jsontext import NotJson, parse

# A clock that differs a little from the service's must not hide the object.
_MARGIN_SECONDS = 300


def where_to_look(intent: Intent) -> str:
    """A sentence with the command that shows what the request did, such as `Look at: svc ...`."""
    command = _command(intent)
    if command is None:
        return "Look at the service's dashboard for what it did"
    return f"See what it did: {command}{' --live' if intent.is_live else ''}"


def _command(intent: Intent) -> str | None:
    since = f"--created-gte {moment(intent.first_sent_at - _MARGIN_SECONDS)}"
    match intent.stored.path.split("/")[2:]:
        case ["orders"]:
            return f"svc orders list {since}"
        case ["orders", order, *_]:
            return f"svc orders retrieve {order}"
        case ["refunds"]:
            return _refunds(intent)
        case ["payouts"]:
            return f"svc payouts list {since}"
        case ["disputes", dispute, *_]:
            return f"svc disputes retrieve {dispute}"
    return None


def _refunds(intent: Intent) -> str:
    """The payment: its documented call shows what was given back; the list of refunds may fail."""
    payment = _field(intent, "payment")
    if payment is None:
        return "svc refunds list"
    return f"svc payments retrieve {payment}"


def _field(intent: Intent, name: str) -> str | None:
    try:
        text = intent.stored.body.decode()
        if intent.stored.encoding == "form":
            from urllib.parse import parse_qsl

            value = dict(parse_qsl(text)).get(name)
        else:
            document = parse(text)
            value = document.get(name) if isinstance(document, dict) else None
    except (UnicodeDecodeError, NotJson):
        return None
    plain = isinstance(value, str) and value.isascii() and value.replace("_", "").isalnum()
    return value if plain else None
