"""A small strict reader of iCalendar files (RFC 5545): what it takes, a calendar takes."""

import re
from dataclasses import dataclass, field

LINE = re.compile(r"(?P<name>[A-Z-]+)(?P<params>(?:;[A-Z-]+=[^;:\",]+)*):(?P<value>.*)")
TIME = re.compile(r"\d{8}T\d{6}Z")
DURATION = re.compile(r"-?P(?:\d+D|T\d+S)")


@dataclass
class Component:
    """One BEGIN to END: its properties, each once, and the components inside it."""

    name: str
    values: dict[str, str] = field(default_factory=dict)
    inner: list["Component"] = field(default_factory=list)


def read(data: bytes) -> Component:
    """Reads one calendar; AssertionError on whatever the RFC does not allow."""
    assert data.endswith(b"\r\n")
    raw = data[:-2].split(b"\r\n")
    for line in raw:
        assert b"\n" not in line
        assert b"\r" not in line
        assert 0 < len(line) <= 75
        line.decode("utf-8")  # no character is broken in two
    text = data[:-2].decode().replace("\r\n ", "")
    root = Component("ROOT")
    stack = [root]
    for row in text.split("\r\n"):
        _take(row, stack)
    assert stack == [root]
    (calendar,) = root.inner
    _check_calendar(calendar)
    return calendar


def _take(line: str, stack: list[Component]) -> None:
    match = LINE.fullmatch(line)
    assert match, line
    name, value = match["name"], match["value"]
    if name == "BEGIN":
        stack.append(Component(value))
    elif name == "END":
        done = stack.pop()
        assert done.name == value
        stack[-1].inner.append(done)
    else:
        assert name not in stack[-1].values, f"{name} twice"
        stack[-1].values[name] = match["params"] + ":" + value


def _check_calendar(calendar: Component) -> None:
    assert calendar.name == "VCALENDAR"
    assert calendar.values["VERSION"] == ":2.0"
    assert calendar.values["PRODID"]
    assert calendar.inner, "RFC 5545, 3.6: at least one component"
    events = [each for each in calendar.inner if each.name == "VEVENT"]
    assert len({each.values["UID"] for each in events}) == len(events)
    for event in events:
        _check_event(event)


def _check_event(event: Component) -> None:
    assert TIME.fullmatch(event.values["DTSTAMP"][1:])
    start = event.values["DTSTART"]
    assert re.fullmatch(r";VALUE=DATE:\d{8}", start) or TIME.fullmatch(start[1:])
    for name in ("SUMMARY", "DESCRIPTION"):
        plain = re.sub(r"\\[\\;,nN]", "", event.values[name][1:])
        assert not set("\\;,") & set(plain), event.values[name]
    (alarm,) = event.inner
    assert alarm.name == "VALARM"
    assert alarm.values["ACTION"] == ":DISPLAY"
    assert alarm.values["DESCRIPTION"]
    assert DURATION.fullmatch(alarm.values["TRIGGER"][1:])
