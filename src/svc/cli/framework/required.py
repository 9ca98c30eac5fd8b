"""What a create cannot do without: marked in its help, and named all at once where it is missing.

These are the fields that the specification says an object holds, and those that we assume. `svc
post` sends whatever it is given.
"""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from svc.errors import UsageError


class Required(NamedTuple):
    """One field: where it stands in a body, the option that gives it, and an example."""

    path: tuple[str, ...]
    option: str
    example: str


_ITEM: Final = "name=Linen jacket,hs_code=6203.39,quantity=1,unit_amount=12900"
_AMOUNT: Final = Required(("amount",), "--amount", "12900")
_CURRENCY: Final = Required(("currency",), "--currency", "EUR")
_COUNTRY: Final = Required(("shipping", "country"), "--country", "DE")
_ITEMS: Final = Required(("items",), "--item", _ITEM)

BY_COMMAND: Final[Mapping[str, tuple[Required, ...]]] = {
    "orders create": (_AMOUNT, _CURRENCY, _COUNTRY, _ITEMS),
    "landed-cost-quotes create": (_CURRENCY, _COUNTRY, _ITEMS),
    "refunds create": (Required(("payment",), "--payment", "pay_7cXd9eYf1gZh2iWj3kPq0aVb"),),
    "payouts create": (
        Required(("amount",), "--amount", "10000"),
        _CURRENCY,
        Required(("destination", "country"), "--country", "DE"),
        Required(("destination", "account_holder_name"), "--account-holder-name", "Muster GmbH"),
    ),
    "webhook-endpoints create": (
        Required(("url",), "--url", "https://shop.example/webhooks"),
        Required(("events",), "--events", "order.paid"),
    ),
}
_COMMANDS: Final[Mapping[str, str]] = {
    "/v1/orders": "orders create",
    "/v1/landed-cost/quotes": "landed-cost-quotes create",
    "/v1/refunds": "refunds create",
    "/v1/payouts": "payouts create",
    "/v1/webhook_endpoints": "webhook-endpoints create",
}


def options_required(command: str) -> frozenset[str]:
    """The options that a command, such as `orders create`, cannot do without."""
    return frozenset(each.option for each in BY_COMMAND.get(command, ()))


def refuse_incomplete(path: str, body: Mapping[str, Any], argv: Sequence[str]) -> None:
    """Refuses a create that lacks what it needs; `argv` is what was typed.

    Raises:
        UsageError: naming all that is missing, with an example of it filled in.
    """
    missing = [
        each for each in BY_COMMAND.get(_COMMANDS.get(path, ""), ()) if not _is_there(body, each)
    ]
    if not missing:
        return
    names = [each.option for each in missing]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    filled = [word for each in missing for word in (each.option, each.example)]
    raise UsageError(
        f"svc {_COMMANDS[path]} needs {listed}.",
        code="parameter_missing",
        param=names[0],
        hint=shlex.join(("svc", *argv, *filled)),
    )


def _is_there(body: Mapping[str, Any], field: Required) -> bool:
    here: Any = body
    for part in field.path:
        # What is no object is for the service to refuse, in its own words.
        if not isinstance(here, Mapping):
            return True
        here = here.get(part)
        if here is None:
            return False
    return True
