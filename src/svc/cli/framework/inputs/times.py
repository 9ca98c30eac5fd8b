"""Parses durations and moments as they are typed: `3d`, `2026-11-21`, `yesterday`.

`framework.control.moments` makes the parser of `--since` and other options that take a moment,
`sending` parses `--created-gte` and its like, `svc keys` and `svc sandbox` parse durations such as
`--grace`. Times are local, or UTC with `--utc`.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from svc.errors import UsageError

_SECONDS: Final = {"w": 7 * 86400, "d": 86400, "h": 3600, "m": 60, "s": 1}
_DURATION: Final = re.compile(r"(?:[0-9]{1,9}[wdhms]){1,5}")
_BARE: Final = re.compile(r"[0-9]{1,9}")
_PART: Final = re.compile(r"([0-9]+)([wdhms])")
_LONGEST: Final = 100 * 366 * 86400
_SHOWN_MAX: Final = 40
_HINT: Final = "Write a number and w, d, h, m or s, as in 3d, 1d12h or 90s"


def seconds_of(text: str, what: str) -> int:
    """Reads a duration as seconds; a bare number is refused, for 7 may be meant as days.

    Raises:
        UsageError: when it is no duration; `what` names the argument.
    """
    if _BARE.fullmatch(text):
        if int(text) == 0:
            return 0
        hint = f"Write {text}d, {text}h, {text}m or {text}s"
        raise UsageError(f"{what} {text} has no unit.", param=what, hint=hint)
    if not _DURATION.fullmatch(text):
        raise UsageError(f"{what} {_shorten(text)} is not a duration.", param=what, hint=_HINT)
    parts = _PART.findall(text)
    seconds = sum(int(number) * _SECONDS[unit] for number, unit in parts)
    if seconds > _LONGEST:
        raise UsageError(f"{what} is more than a hundred years.", param=what)
    return seconds


def _shorten(text: str) -> str:
    return repr(text[:_SHOWN_MAX])


_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_DATE_TIME: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})?", re.ASCII
)
_UNIX: Final = re.compile(r"[0-9]{9,11}")
_DAYS: Final = {"yesterday": -1, "today": 0, "tomorrow": 1}
_LAST_YEAR: Final = 9999


class Moment(NamedTuple):
    """A moment, or a whole day, whose `end` is the next midnight; both with their time zone."""

    begin: datetime
    end: datetime | None = None


class Moments:
    """Parses moments in one time zone, this machine's or UTC.

    A duration is counted back from `now`, or with `ahead` forward; `now` is called only for a
    duration or a word such as `yesterday`.
    """

    def __init__(self, now: Callable[[], float], *, utc: bool, ahead: bool = False) -> None:
        self._now = now
        self._utc = utc
        self._sign = 1 if ahead else -1

    def read(self, text: str, what: str) -> Moment:
        """Reads a date, a date with time, Unix seconds, a duration, or a word.

        Raises:
            UsageError: the text is none of these; `what` names the option.
        """
        try:
            found = self._read(text, what)
            if found is not None and found.begin.astimezone(UTC).year < _LAST_YEAR:
                return found
        except (ValueError, OverflowError, OSError):
            pass
        example, word = ("3d", "tomorrow") if self._sign > 0 else ("7d", "yesterday")
        raise UsageError(
            f"{what} {_shorten(text)} is not a time.",
            param=what,
            hint=f"Write 2026-11-21, 2026-11-21T09:00, {example} or {word}",
        )

    def _read(self, text: str, what: str) -> Moment | None:
        if text in _DAYS:
            return self._day(self._here(self._now()) + timedelta(days=_DAYS[text]))
        if text == "now":
            return Moment(self._here(int(self._now())))
        if _DURATION.fullmatch(text):
            return Moment(self._here(int(self._now()) + self._sign * seconds_of(text, what)))
        if _UNIX.fullmatch(text):
            return Moment(self._here(float(text)))
        if _DATE.fullmatch(text):
            return self._day(datetime.fromisoformat(text))
        if _DATE_TIME.fullmatch(text):
            return Moment(self._add_zone(datetime.fromisoformat(text)))
        return None

    def _day(self, within: datetime) -> Moment:
        first = within.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
        return Moment(self._add_zone(first), self._add_zone(first + timedelta(days=1)))

    def _here(self, seconds: float) -> datetime:
        return self._add_zone(datetime.fromtimestamp(seconds, UTC))

    def _add_zone(self, moment: datetime) -> datetime:
        if not self._utc:
            return moment.astimezone()
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def stamp(moment: datetime) -> str:
    """Writes a time as the service does: ISO 8601 in UTC, with a fraction where it has one."""
    text = moment.astimezone(UTC).isoformat()
    return text.removesuffix("+00:00") + "Z"


_BESIDE: Final = {"gt": "gte", "lte": "lt"}
_SAME_SIDE: Final = {"gte": ("gte", "gt"), "lt": ("lte", "lt")}


def filters(given: Mapping[str, str | None], read: Callable[[str, str], Moment]) -> dict[str, str]:
    """Returns the query parameters, such as `created[gte]`, for the typed bounds.

    `given` are the texts typed for `--created-gte`, `-gt`, `-lte` and `-lt`, by `gte` and so on.

    A whole day is taken as such: `gt` means from the next midnight on, `lte` until then.

    Raises:
        UsageError: a value is not a time, or two of them bound the same side.
    """
    found: dict[str, str] = {}
    for name, text in given.items():
        if text is None:
            continue
        moment = read(text, f"--created-{name}")
        sent, at = name, moment.begin
        if moment.end is not None and name in _BESIDE:  # exact, whatever a second is cut into
            sent, at = _BESIDE[name], moment.end
        if f"created[{sent}]" in found:
            pair = " and ".join(f"--created-{each}" for each in _SAME_SIDE[sent])
            raise UsageError(f"{pair} exclude each other.", param=f"--created-{name}")
        found[f"created[{sent}]"] = stamp(at)
    return found
