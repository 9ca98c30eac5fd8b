"""Reading `Retry-After` (promise R8)."""

from svc.client.exchange import Headers, header
from svc.client.retry import RETRY_AFTER_MAX

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DIGITS_MAX = 12
_CENTURY_GUESS = 50


def retry_after(headers: Headers, now: float) -> float | None:
    """The seconds that a service asks to wait; None where it asks nothing that makes sense.

    A date is measured against the service's own `Date` header where there is one, so that a wrong
    clock on this machine does no harm, else against `now` (seconds since 1970).
    """
    value = (header(headers, "retry-after") or "").strip()
    # Several headers, or several figures in one: the longest wait is right for each of them.
    waits = [_seconds(part.strip(), headers, now) for part in _parts(value)]
    return max((wait for wait in waits if wait is not None), default=None)


def _parts(value: str) -> list[str]:
    """Figures are parted by commas; a date has one of its own behind the day's name."""
    parts: list[str] = []
    for part in value.split(","):
        if parts and parts[-1].strip().isalpha():
            parts[-1] += f",{part}"
        else:
            parts.append(part)
    return parts


def _seconds(value: str, headers: Headers, now: float) -> float | None:
    if value.isascii() and value.isdigit():
        seconds = float(value[:_DIGITS_MAX])
    else:
        moment = http_date(value)
        if moment is None:
            return None
        served = http_date(header(headers, "date") or "")
        seconds = moment - (now if served is None else served)
    return seconds if 0 < seconds <= RETRY_AFTER_MAX else None


def http_date(text: str) -> float | None:
    """Reads the three date forms of RFC 9110 5.6.7 to seconds since 1970; None if it is none."""
    words = text.replace(",", " ").replace("-", " ").split()
    match words:
        case [_, day, month, year, clock, "GMT"]:
            return _moment(year, month, day, clock)
        case [_, month, day, clock, year]:
            return _moment(year, month, day, clock)
    return None


def _moment(year: str, month: str, day: str, clock: str) -> float | None:
    from datetime import UTC, datetime

    try:
        hour, minute, second = (int(part) for part in clock.split(":"))
        number = int(year) + (0 if len(year) > 2 else _century(int(year)))  # noqa: PLR2004
        moment = datetime(
            number, _MONTHS.index(month) + 1, int(day), hour, minute, min(second, 59), tzinfo=UTC
        )
    except (ValueError, OverflowError):  # the latter where a number is beyond a C integer
        return None
    return moment.timestamp()


def _century(year: int) -> int:
    return 1900 if year >= _CENTURY_GUESS else 2000
