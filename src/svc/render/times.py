"""Times as people read them: local or UTC, exact or brief, with a hint how far away they are."""

from datetime import UTC, datetime, tzinfo
from typing import Final

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
    """Reads a timestamp of the service; None when the text is none (spec: Conventions)."""
    if len(text) < len("2026-10-01T09:00Z") or text[10:11] != "T":
        return None
    try:
        moment = datetime.fromisoformat(text)
        moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo else None


def exact(moment: datetime, *, utc: bool, zone: tzinfo | None) -> str:
    """Writes date, time and offset: `2026-10-01 11:00:00 +02:00`, or `... UTC`.

    `zone` is the local one; None means the machine's.
    """
    if utc:
        return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    local = moment.astimezone(zone).isoformat(sep=" ", timespec="seconds")
    return f"{local[:19]} {local[19:]}"


def listed(moment: datetime, *, utc: bool, zone: tzinfo | None) -> str:
    """Writes date and time for a table: `2026-10-01 11:00`, with a Z when it is UTC."""
    return f"{moment.astimezone(UTC if utc else zone):%Y-%m-%d %H:%M}{'Z' if utc else ''}"


def brief(moment: datetime, *, utc: bool, zone: tzinfo | None, now: float) -> str:
    """Writes a time in few columns: `01 Oct 11:00` this year, else the date."""
    there = UTC if utc else zone
    local = moment.astimezone(there)
    if local.year != datetime.fromtimestamp(now, UTC).astimezone(there).year:
        return f"{local:%Y-%m-%d}"
    return f"{local:%d} {MONTHS[local.month - 1]} {local:%H:%M}{'Z' if utc else ''}"


def distance(moment: datetime, now: float) -> str:
    """Says how far away a time is, to the nearest unit: `in 2 days`, `5 minutes ago`.

    What rounds up to one of a larger unit is said in that: `in 1 hour`, never `in 60 minutes`.
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
