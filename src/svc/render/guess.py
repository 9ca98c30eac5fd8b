"""Fields of objects that no view describes: found from the data itself."""

from collections.abc import Iterable
from typing import Any, Final

from svc.render import times
from svc.render.text import one_line
from svc.render.view import Field, Kind

_ABBREVIATIONS: Final = (
    "api",
    "ca",
    "csv",
    "fx",
    "hs",
    "http",
    "https",
    "iban",
    "id",
    "ip",
    "json",
    "pid",
    "tls",
    "url",
    "utc",
    "vat",
)
_QUANTITIES: Final = ("bytes", "days", "seconds")
_STATES: Final = ("status", "state", "outcome")


def fields(objects: Iterable[dict[str, Any]]) -> tuple[Field, ...]:
    """Names every key of the objects, in the order in which they first come."""
    found: dict[str, Field] = {}
    for data in objects:
        for key, value in data.items():
            if key not in found or found[key].kind == "text":
                found[key] = field(key, value, data)
    return tuple(found.values())


def field(key: str, value: object, data: dict[str, Any]) -> Field:
    """Guesses how one value of an object reads; its label is its name in words."""
    return Field((key,), words(key), _kind(key, value, data), currency=_currency(key, data))


def words(key: str) -> str:
    """Writes a field's name as a label, safe to show.

    `key_source` becomes `Key source`, and `key_age_days` `Key age (days)`.
    """
    parts = [part.upper() if part in _ABBREVIATIONS else part for part in key.split("_")]
    if len(parts) > 1 and parts[-1] in _QUANTITIES:
        parts[-1] = f"({parts[-1]})"
    text = one_line(" ".join(parts))
    return text[:1].upper() + text[1:]


def _kind(key: str, value: object, data: dict[str, Any]) -> Kind:
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int | float):
        money = key == "amount" or key.startswith("amount_") or key.endswith("_amount")
        return "money" if money and _currency(key, data) in data else "number"
    if isinstance(value, str):
        return _kind_of_text(key, value)
    return "list" if isinstance(value, list) else "text"


def _kind_of_text(key: str, value: str) -> Kind:
    if key in _STATES:
        return "status"
    if key == "id" or key.endswith("_id"):
        return "id"
    return "time" if times.parse(value) else "text"


def _currency(key: str, data: dict[str, Any]) -> str:
    own = key.removesuffix("_amount") + "_currency"
    return own if own in data else "currency"
