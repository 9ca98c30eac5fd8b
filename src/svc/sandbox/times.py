"""Moments of the sandbox's clock: whole microseconds inside, second precision on the outside."""

import re
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = 1_000_000  # microseconds
LAST = 253_402_300_799_999_999  # microseconds: the end of the year 9999, where dates end
_MICRO = timedelta(microseconds=1)
_SHAPE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


def micros(moment: datetime) -> int:
    """Microseconds since 1970 of an aware datetime, exactly."""
    return (moment - EPOCH) // _MICRO


def moment(micros: int) -> datetime:
    """The aware UTC datetime of microseconds since 1970, exactly.

    Raises:
        OverflowError: no date is that far away.
    """
    return EPOCH + timedelta(microseconds=micros)


def text(moment: datetime) -> str:
    """`YYYY-MM-DDTHH:MM:SSZ`; fractions of a second are cut (assumptions: Conventions)."""
    return moment.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def parse(value: str) -> datetime:
    """Reads `YYYY-MM-DDTHH:MM:SSZ` and nothing else.

    Raises:
        ValueError: on any other shape, or a date that does not exist.
    """
    if _SHAPE.fullmatch(value) is None:
        raise ValueError(value)
    return datetime.fromisoformat(value)
