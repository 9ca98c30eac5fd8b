"""Moments and durations on the command line: in which zone they are meant, by whose clock."""

import os
import time
from collections.abc import Iterator
from datetime import datetime

import pytest

from svc.cli.framework.inputs.times import Moment, Moments, filters, seconds_of, stamp

NOW = datetime.fromisoformat("2026-11-22T10:30:15.75+00:00").timestamp()


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine in a zone with summer time."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    os.environ["TZ"] = "UTC"
    time.tzset()


def read(text: str, *, utc: bool = False, ahead: bool = False) -> Moment:
    return Moments(lambda: NOW, utc=utc, ahead=ahead).read(text, "--since")


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("2026-11-21T09:00:00Z", "2026-11-21T09:00:00Z"),
        ("2026-11-21T09:00:00.25Z", "2026-11-21T09:00:00.250000Z"),
        ("2026-11-21T09:00:00+02:00", "2026-11-21T07:00:00Z"),
        ("2026-11-21T09:00", "2026-11-21T08:00:00Z"),
        ("2026-07-21 09:00", "2026-07-21T07:00:00Z"),
        ("2026-11-21", "2026-11-20T23:00:00Z"),
        ("yesterday", "2026-11-20T23:00:00Z"),
        ("today", "2026-11-21T23:00:00Z"),
        ("now", "2026-11-22T10:30:15Z"),
        ("7d", "2026-11-15T10:30:15Z"),
        ("1d12h", "2026-11-20T22:30:15Z"),
        ("1795000000", "2026-11-18T11:06:40Z"),
    ],
)
def test_a_moment_is_the_instant_that_is_meant(berlin: None, text: str, sent: str) -> None:
    """Without a zone it is local, summer time and all; a duration is so long ago."""
    assert stamp(read(text).begin) == sent


@pytest.mark.effect_of("svc", "--utc")
def test_utc_is_asked_for(berlin: None) -> None:
    """`--utc` is for what is read as for what is shown."""
    assert stamp(read("2026-11-21", utc=True).begin) == "2026-11-21T00:00:00Z"
    assert stamp(read("2026-11-21T09:00", utc=True).begin) == "2026-11-21T09:00:00Z"


def test_what_lies_ahead() -> None:
    """A duration from now on, and tomorrow."""
    assert stamp(read("3d", ahead=True).begin) == "2026-11-25T10:30:15Z"
    assert stamp(read("tomorrow", ahead=True).begin) == "2026-11-23T00:00:00Z"


def test_a_day_of_the_clock_change_is_a_day(berlin: None) -> None:
    """It has 25 hours where the clock goes back."""
    day = read("2026-10-25")
    assert day.end is not None
    assert day.end.timestamp() - day.begin.timestamp() == 25 * 3600


def of(**given: str) -> dict[str, str]:
    return filters(given, Moments(lambda: NOW, utc=True).read)


def test_a_day_is_a_whole_day() -> None:
    """From it on, after it, up to it, before it: exact, whatever a second is cut into."""
    day = "2026-11-21"
    assert of(gte=day) == {"created[gte]": "2026-11-21T00:00:00Z"}
    assert of(gt=day) == {"created[gte]": "2026-11-22T00:00:00Z"}
    assert of(lte=day) == {"created[lt]": "2026-11-22T00:00:00Z"}
    assert of(lt=day) == {"created[lt]": "2026-11-21T00:00:00Z"}
    assert of(gt="2h", lte="1h") == {
        "created[gt]": "2026-11-22T08:30:15Z",
        "created[lte]": "2026-11-22T09:30:15Z",
    }


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("5m", 300),
        ("2h", 7200),
        ("3d", 259_200),
        ("1w", 604_800),
        ("1d12h", 129_600),
        ("0", 0),
        ("00", 0),
    ],
)
def test_duration_is_read_as_seconds(text: str, seconds: int) -> None:
    """Weeks, days, hours, minutes and seconds add up; none of anything is none."""
    assert seconds_of(text, "DURATION") == seconds
