"""Reminders as an iCalendar file (RFC 5545): one event for each due date and each grace end."""

import hashlib
import time
from collections.abc import Iterator
from typing import Final

from svc.cli.framework.reminders import grace, remedy, title
from svc.keys.age import DAY_SECONDS, Judged
from svc.render.text import escape

_LINE_OCTETS: Final = 75
_HEAD: Final = (
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//svc//keys remind//EN",
    "CALSCALE:GREGORIAN",
)
# A calendar must hold something (RFC 5545, 3.6), also where nothing is due.
_NOTHING: Final = (
    "BEGIN:VTIMEZONE",
    "TZID:UTC",
    "BEGIN:STANDARD",
    "DTSTART:19700101T000000",
    "TZOFFSETFROM:+0000",
    "TZOFFSETTO:+0000",
    "END:STANDARD",
    "END:VTIMEZONE",
)


def calendar(every: list[Judged], now: float, warn: int) -> str:
    """Writes the file; its alarms go off `warn` seconds before a secret is due."""
    events = [line for judged in every for line in _events(judged, now, warn)]
    lines = (*_HEAD, *(events or _NOTHING), "END:VCALENDAR")
    return "".join(f"{_folded(line)}\r\n" for line in lines)


def _events(judged: Judged, now: float, warn: int) -> Iterator[str]:
    held = judged.held
    if judged.due_at is not None:
        start = f"DTSTART;VALUE=DATE:{_stamp(judged.due_at)[:8]}"
        what = "API key" if held.what == "api_key" else "signing secret"
        words = f"Replace the {what} {held.name}", f"{title(held)}. {remedy(held)}"
        yield from _event(f"due|{held.identity}", now, start, words, warn)
    if judged.old_ends_by is not None:
        start = f"DTSTART:{_stamp(judged.old_ends_by)}"
        words = f"The old API key {held.old_name} ends", f"{title(held)}: {grace(judged)}"
        yield from _event(f"old|{held.identity}", now, start, words, DAY_SECONDS)


def _event(
    identity: str, now: float, start: str, words: tuple[str, str], before: int
) -> Iterator[str]:
    """An event whose UID stays the same, so that a newer file moves it instead of doubling it."""
    summary, description = map(_escaped, words)
    uid = hashlib.sha256(escape(identity).encode()).hexdigest()[:32]
    yield from ("BEGIN:VEVENT", f"UID:{uid}@svc", f"DTSTAMP:{_stamp(now)}", start)
    yield from (f"SUMMARY:{summary}", f"DESCRIPTION:{description}", "TRANSP:TRANSPARENT")
    yield from ("BEGIN:VALARM", "ACTION:DISPLAY", f"DESCRIPTION:{summary}")
    yield from (f"TRIGGER:{_before(before)}", "END:VALARM", "END:VEVENT")


def _before(seconds: int) -> str:
    return (
        f"-PT{seconds}S" if seconds % DAY_SECONDS or not seconds else f"-P{seconds // DAY_SECONDS}D"
    )


def _stamp(seconds: float) -> str:
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(seconds))


def _escaped(text: str) -> str:
    """Text in which nothing ends a line: programs differ in what they take for an end (R61)."""
    text = escape(text)
    for mark in ("\\", ";", ","):
        text = text.replace(mark, f"\\{mark}")
    return text.replace("\n", "\\n")


def _folded(line: str) -> str:
    """Breaks a line after 75 octets at most and never inside a character (RFC 5545, 3.1)."""
    lines, used = [""], 0
    for mark in line:
        size = len(mark.encode())
        if used + size > _LINE_OCTETS:
            lines.append(" ")
            used = 1
        lines[-1] += mark
        used += size
    return "\r\n".join(lines)
