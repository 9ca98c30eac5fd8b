"""From a value to what people read: money, times, states, addresses."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, cast

from svc.money import format_amount
from svc.render import times
from svc.render.json_dump import dump
from svc.render.record import Record
from svc.render.screen import Cell, Screen, Style
from svc.render.text import escape, one_line
from svc.render.view import MEANINGS, Field, Kind

_ADDRESS: Final = ("name", "line1", "line2", "postal_code", "city", "state", "country")
_CARD: Final = ("brand", "last4")
_SOON_SECONDS: Final = 3 * 86_400
NOTHING: Final[tuple[object, ...]] = (None, "", [], {})


def cell(field: Field, record: Record, screen: Screen) -> Cell | None:
    """Reads one field of an object; None when it has no value.

    A value of another type than its view expects is shown as it is.
    """
    value = record.take(field.path)
    if value is None and field.instead:
        value = record.take(field.instead)
    if value in NOTHING:
        return None
    return _formed(value, field, record, screen) or Cell(plain(value))


def plain(value: object) -> str:
    """Writes any value as text that is safe to show, line feeds kept (promise R61)."""
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and not any(isinstance(inner, list | dict) for inner in value):
        return ", ".join(one_line(plain(inner)) for inner in value)
    return "" if value is None else dump(value)


def status(word: str) -> Cell:
    """Colours a state by its meaning; an event type by its last word."""
    meaning = MEANINGS.get(word.rpartition(".")[2], "")
    return Cell(one_line(word), cast("Style", meaning), whole=True)


def _formed(value: object, field: Field, record: Record, screen: Screen) -> Cell | None:
    if field.kind == "money":
        return _money(value, field, record)
    if field.kind == "time":
        return _time(value, screen)
    if field.kind == "deadline":
        return _deadline(value, screen)
    if field.kind == "duty_rate":
        return _duty_rate(value, record)
    form = _FORMS.get(field.kind)
    return form(value) if form else None


def _money(value: object, field: Field, record: Record) -> Cell | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    currency = record.near(field.currency)
    if not isinstance(currency, str):
        return Cell(f"{value} (minor units)", whole=True, right=True)
    amount = format_amount(value, one_line(currency))
    return Cell(amount, whole=True, right=True, money=not amount.endswith(")"))


def _time(value: object, screen: Screen) -> Cell | None:
    moment = times.parse(value) if isinstance(value, str) else None
    if moment is None:
        return None
    now = screen.now()
    return Cell(
        times.exact(moment, utc=screen.utc, zone=screen.zone),
        listed=times.listed(moment, utc=screen.utc, zone=screen.zone),
        brief=times.brief(moment, utc=screen.utc, zone=screen.zone, now=now),
        hint=times.distance(moment, now),
        whole=True,
    )


def _deadline(value: object, screen: Screen) -> Cell | None:
    """A time until which something can be done: what is left is said in every form."""
    found = _time(value, screen)
    moment = times.parse(value) if isinstance(value, str) else None
    if found is None or moment is None:
        return None
    left = moment.timestamp() - screen.now()
    return replace(
        found,
        style="attention" if 0 < left <= _SOON_SECONDS else "",
        listed=f"{found.listed}, {found.hint}",
        brief=f"{' '.join(found.brief.split(' ')[:2])}, {found.hint}",
        urgent=True,
    )


def _id(value: object) -> Cell:
    return Cell(one_line(plain(value)), whole=True)


def _number(value: object) -> Cell:
    return Cell(one_line(plain(value)), whole=True, right=True)


def _duty_rate(value: object, record: Record) -> Cell | None:
    """Writes basis points as percent; a duty without a rate is a flat one."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    duty = record.data.get("duty")
    if value == 0 and isinstance(duty, int) and duty > 0:
        return Cell("flat", whole=True, right=True)
    whole, part = divmod(value, 100)
    text = f"{whole}.{part:02d}".rstrip("0").rstrip(".") if value >= 0 else f"{value} bps"
    return Cell(text if value < 0 else f"{text}%", whole=True, right=True)


def _status(value: object) -> Cell | None:
    return status(value) if isinstance(value, str) else None


def _guarantee(value: object) -> Cell | None:
    if not isinstance(value, bool):
        return None
    return status("guaranteed" if value else "not guaranteed")


def _address(value: object) -> Cell | None:
    return Cell(_joined(value, _ADDRESS, ", ")) if isinstance(value, dict) else None


def _card(value: object) -> Cell | None:
    return Cell(_joined(value, _CARD, " ")) if isinstance(value, dict) else None


def _joined(value: dict[str, Any], known: tuple[str, ...], between: str) -> str:
    """Joins the parts in their usual order; parts that nobody expected follow with their names."""
    first = [one_line(plain(value[key])) for key in known if value.get(key) not in NOTHING]
    others = [
        f"{one_line(key)} {one_line(plain(inner))}"
        for key, inner in value.items()
        if key not in known and inner not in NOTHING
    ]
    return ", ".join([between.join(first), *others] if first else others)


_FORMS: Final[dict[Kind, Callable[[object], Cell | None]]] = {
    "id": _id,
    "number": _number,
    "status": _status,
    "guarantee": _guarantee,
    "address": _address,
    "card": _card,
}
