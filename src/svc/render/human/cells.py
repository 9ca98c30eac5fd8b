"""Formats single values for people: amounts, times, statuses and others.

The view of an object (`views.model`) has a `ViewField` for each value, which says how.

The blocks of `human` and the tables of `table` ask `cell` for each value; `cli` and the inspector
of webhooks parse and format times with the other functions.
"""

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from typing import Any, Final, cast

from svc.money import format_amount
from svc.render.dump import dump
from svc.render.paths import Record
from svc.render.style import Cell, Screen, Style
from svc.render.text import escape, one_line
from svc.render.views.local import is_local
from svc.render.views.model import MEANINGS, FieldKind, ViewField

_LINES_MAX: Final = 10_000
_CHARACTERS_MAX: Final = 1024 * 1024
MONTHS: Final = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()

# Seconds, and the unit that is used from there on.
UNITS: Final = (
    (365 * 86400, "year"),
    (30 * 86400, "month"),
    (86400, "day"),
    (3600, "hour"),
    (60, "minute"),
)


def parse(text: str) -> datetime | None:
    """Parses a timestamp of the service; None if it is invalid (spec: Conventions)."""
    if len(text) < len("2026-10-01T09:00Z") or text[10:11] != "T":
        return None
    try:
        moment = datetime.fromisoformat(text)
        moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo else None


def format_exact(moment: datetime, *, utc: bool, zone: tzinfo | None) -> str:
    """Formats `2026-10-01 11:00:00 +02:00`, or `... UTC`; without `zone` in that of the machine."""
    if utc:
        return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    local = moment.astimezone(zone).isoformat(sep=" ", timespec="seconds")
    return f"{local[:19]} {local[19:]}"


def format_brief(moment: datetime, *, utc: bool, zone: tzinfo | None, now: float) -> str:
    """Writes a time in few columns: `01 Oct 11:00` this year, else the date."""
    there = UTC if utc else zone
    local = moment.astimezone(there)
    if local.year != datetime.fromtimestamp(now, UTC).astimezone(there).year:
        return f"{local:%Y-%m-%d}"
    return f"{local:%d} {MONTHS[local.month - 1]} {local:%H:%M}{'Z' if utc else ''}"


def distance(moment: datetime, now: float) -> str:
    """Formats the distance of a time, rounded to a unit: `in 2 days`, `5 minutes ago`.

    A value that rounds up to the next unit is formatted in that: `in 1 hour`, never `in 60
    minutes`.
    """
    seconds = moment.timestamp() - now
    away = abs(seconds)
    finer = (*(size for size, _ in UNITS[1:]), 1)
    for (size, unit), step in zip(UNITS, finer, strict=True):
        if away >= size - step / 2:
            count = max(int(away / size + 0.5), 1)
            words = f"{count} {unit}{'s' if count > 1 else ''}"
            return f"in {words}" if seconds > 0 else f"{words} ago"
    return "in less than a minute" if seconds > 0 else "just now"


_ADDRESS: Final = ("name", "line1", "line2", "postal_code", "city", "state", "country")
_CARD: Final = ("brand", "last4")
_SOON_SECONDS: Final = 3 * 86_400
_DIGEST: Final = 16
NOTHING: Final[tuple[object, ...]] = (None, "", [], {})


def cell(field: ViewField, record: Record, screen: Screen) -> Cell | None:
    """Formats one field of an object, or returns None; a value of another type stays plain."""
    value = record.take(field.path)
    if value is None and field.fallback:
        value = record.take(field.fallback)
    if field.kind == "counter" and value == 0:
        return None
    if value in NOTHING or (field.during and record.data.get("status") != field.during):
        return None
    return _format_kind(value, field, record, screen) or Cell(format_plain(value))


def format_plain(value: object) -> str:
    """Formats any value as text that is safe for a terminal, with its line feeds (R61)."""
    if isinstance(value, str):
        return escape(_truncate(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and not any(isinstance(inner, list | dict) for inner in value):
        return ", ".join(one_line(format_plain(inner)) for inner in value)
    return "" if value is None else dump(value)


def _truncate(text: str) -> str:
    """Cuts a text at a length that limits memory, as each line is an object (promise R99)."""
    end = _CHARACTERS_MAX
    if text.count("\n") >= _LINES_MAX:
        end = min(end, sum(len(line) + 1 for line in text.split("\n", _LINES_MAX)[:-1]) - 1)
    more = len(text) - end
    return f"{text[:end]}\n... {more:,} more characters: -o json" if more > 0 else text


def status(word: str) -> Cell:
    """Colours a status by its meaning, and an event type by its last word."""
    meaning = MEANINGS.get(word.rpartition(".")[2], "")
    return Cell(one_line(word), cast("Style", meaning), whole=True)


def _format_kind(value: object, field: ViewField, record: Record, screen: Screen) -> Cell | None:
    if field.kind == "money":
        return _money(value, field, record)
    if field.kind in ("time", "second"):
        found = _time(value, _clock(field, record, screen), screen)
        return found and _to_the_second(found) if field.kind == "second" else found
    if field.kind == "deadline":
        return _deadline(value, _clock(field, record, screen), screen)
    if field.kind == "duty_rate":
        return _duty_rate(value, record)
    if field.kind == "status":
        return _status(value, field, record)
    form = _FORMS.get(field.kind)
    return form(value) if form else None


def _money(value: object, field: ViewField, record: Record) -> Cell | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    currency = record.take_near(field.currency)
    if not isinstance(currency, str):
        # Never a bare number, which would be read as whole units.
        return Cell(f"{value:,} (minor units)", brief=f"{value:,} minor", whole=True, right=True)
    amount = format_amount(value, one_line(currency))
    return Cell(amount, whole=True, right=True, money=not amount.endswith(")"))


def _clock(field: ViewField, record: Record, screen: Screen) -> float:
    """The present by the clock that dates a value: a sandbox's clock may differ by far."""
    local = is_local(record.kind_data) and not field.served
    return screen.here() if local else screen.now()


def _time(value: object, now: float, screen: Screen) -> Cell | None:
    moment = parse(value) if isinstance(value, str) else None
    if moment is None:
        return None
    there = UTC if screen.utc else screen.zone
    return Cell(
        format_exact(moment, utc=screen.utc, zone=screen.zone),
        listed=f"{moment.astimezone(there):%Y-%m-%d %H:%M}{'Z' if screen.utc else ''}",
        brief=format_brief(moment, utc=screen.utc, zone=screen.zone, now=now),
        hint=distance(moment, now),
        whole=True,
    )


def _to_the_second(found: Cell) -> Cell:
    """A time whose short form has its seconds, and the year only if it is another."""
    day, clock, zone = found.text.split(" ")
    date = day if found.brief.startswith(day) else found.brief[: len("01 Oct")]
    short = f"{date} {clock}{'Z' if zone == 'UTC' else ''}"
    return found._replace(listed=short, brief=short)


def _deadline(value: object, now: float, screen: Screen) -> Cell | None:
    """Formats a deadline; every form contains the remaining time."""
    found = _time(value, now, screen)
    moment = parse(value) if isinstance(value, str) else None
    if found is None or moment is None:
        return None
    left = moment.timestamp() - now
    return found._replace(
        style="attention" if 0 < left <= _SOON_SECONDS else "",
        listed=f"{found.listed}, {found.hint}",
        brief=f"{' '.join(found.brief.split(' ')[:2])}, {found.hint}",
        urgent=True,
    )


def _id(value: object) -> Cell:
    return Cell(one_line(format_plain(value)), whole=True)


def _digest(value: object) -> Cell:
    """Formats a checksum; its shorter form is its beginning."""
    text = one_line(format_plain(value))
    return Cell(text, brief=text if len(text) <= _DIGEST else f"{text[:_DIGEST]}...")


def _number(value: object) -> Cell:
    return Cell(one_line(format_plain(value)), whole=True, right=True)


def _duty_rate(value: object, record: Record) -> Cell | None:
    """Formats basis points as percent; a duty without a rate is a flat one."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    duty = record.data.get("duty")
    if value == 0 and isinstance(duty, int) and duty > 0:
        return Cell("flat", whole=True, right=True)
    whole, part = divmod(value, 100)
    text = f"{whole}.{part:02d}".rstrip("0").rstrip(".") if value >= 0 else f"{value} bps"
    return Cell(text if value < 0 else f"{text}%", whole=True, right=True)


def _status(value: object, field: ViewField, record: Record) -> Cell | None:
    """Formats a status with amounts that were returned: a refunded order must not look paid."""
    if not isinstance(value, str):
        return None
    state = status(value)
    for name, whole in field.undone:
        back, taken = record.data.get(name), record.data.get(whole)
        if isinstance(back, int) and isinstance(taken, int) and back > 0:
            word = name.removeprefix("amount_")
            word = word if back >= taken else f"partly {word}"
            state = state._replace(listed=f"{state.text}, {word}", brief=word, style="quiet")
    return state


def _guarantee(value: object) -> Cell | None:
    if not isinstance(value, bool):
        return None
    return status("guaranteed" if value else "not guaranteed")


def _join_known(known: tuple[str, ...], between: str) -> Callable[[object], Cell | None]:
    def form(value: object) -> Cell | None:
        return Cell(_join_parts(value, known, between)) if isinstance(value, dict) else None

    return form


def _join_parts(value: dict[str, Any], known: tuple[str, ...], between: str) -> str:
    """Joins the parts in their usual order; unknown parts follow with their names."""
    first = [one_line(format_plain(value[key])) for key in known if value.get(key) not in NOTHING]
    others = [
        f"{one_line(key)} {one_line(format_plain(inner))}"
        for key, inner in value.items()
        if key not in known and inner not in NOTHING
    ]
    return ", ".join([between.join(first), *others] if first else others)


_FORMS: Final[dict[FieldKind, Callable[[object], Cell | None]]] = {
    "id": _id,
    "digest": _digest,
    "number": _number,
    "counter": _number,
    "guarantee": _guarantee,
    "address": _join_known(_ADDRESS, ", "),
    "card": _join_known(_CARD, " "),
}
