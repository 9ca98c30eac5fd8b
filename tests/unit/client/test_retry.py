"""Whether and when to try again: decision tables."""

from datetime import UTC, datetime
from email.utils import formatdate
from pathlib import Path

import pytest

import svc
from svc.client import retry
from svc.client.request import fraction
from svc.client.retry import (
    Meaning,
    Reason,
    backoff,
    classify_reply,
    connect_seconds,
    decide,
    http_date,
    retry_after,
)

NOW = 1_700_000_000.0


def decision(
    meaning: Meaning,
    *,
    attempt: int = 1,
    time_left: float = 60.0,
    age: float = 0.0,
    asked: float | None = None,
    method: str = "POST",
) -> float | Reason:
    return decide(
        meaning,
        attempt=attempt,
        time_left=time_left,
        age=age,
        method=method,
        retry_after=asked,
        random=lambda: 0.5,
    )


@pytest.mark.parametrize(
    ("status", "code", "replayed", "method", "meaning"),
    [
        (400, None, False, "POST", Meaning.REFUSED),
        (401, None, False, "POST", Meaning.REFUSED),
        (404, "resource_missing", False, "GET", Meaning.REFUSED),
        (408, None, False, "POST", Meaning.REFUSED),
        (422, None, False, "POST", Meaning.REFUSED),
        (409, "idempotency_key_in_use", False, "POST", Meaning.BUSY),
        (409, "request_in_progress", False, "POST", Meaning.BUSY),
        (409, "idempotency_key_reused", False, "POST", Meaning.REFUSED),
        (409, None, False, "POST", Meaning.REFUSED),
        (429, None, False, "POST", Meaning.LIMITED),
        (500, "internal_error", False, "POST", Meaning.FAILING),
        (502, None, False, "GET", Meaning.FAILING),
        (503, None, False, "POST", Meaning.FAILING),
        (504, None, False, "POST", Meaning.FAILING),
        (501, None, False, "POST", Meaning.BROKEN),
        (500, None, True, "POST", Meaning.REPEATED),
        (500, None, True, "GET", Meaning.FAILING),
        (400, None, True, "POST", Meaning.REFUSED),
        (301, None, False, "GET", Meaning.REDIRECT),
        (399, None, False, "GET", Meaning.REDIRECT),
        (400, None, False, "GET", Meaning.REFUSED),
        (499, None, True, "POST", Meaning.REFUSED),
        (500, None, False, "GET", Meaning.FAILING),
        (307, None, False, "POST", Meaning.REDIRECT),
        (304, None, False, "GET", Meaning.REDIRECT),
    ],
)
def test_a_status_has_one_meaning(
    status: int, code: str | None, replayed: bool, method: str, meaning: Meaning
) -> None:
    """R6: status first, then the code; a stored 5xx is told from a fresh one."""
    assert classify_reply(method, status, code, replayed=replayed) is meaning


def test_no_other_status_is_tried_again() -> None:
    """R6: of all that there are, 507 and those of a company's proxy such as 520 included."""
    fresh = {
        status: classify_reply("POST", status, None, replayed=False) for status in range(300, 600)
    }
    again = {status for status, meaning in fresh.items() if meaning is Meaning.FAILING}
    assert again == {500, 502, 503, 504}


@pytest.mark.parametrize(
    ("meaning", "retried"),
    [
        *((Meaning.DONE, False), (Meaning.REFUSED, False), (Meaning.LIMITED, True)),
        *((Meaning.BUSY, True), (Meaning.FAILING, True), (Meaning.BROKEN, False)),
        *((Meaning.REPEATED, False), (Meaning.REDIRECT, False), (Meaning.UNREADABLE, True)),
        *((Meaning.OVERSIZED, False), (Meaning.UNREACHED, True)),
        *((Meaning.UNTRUSTED, False), (Meaning.LOST, True)),
    ],
)
def test_only_what_may_pass_is_tried_again(meaning: Meaning, retried: bool) -> None:
    """R6: connect failures, resets, unreadable 2xx, 429, 5xx, 409 in progress; nothing else."""
    assert isinstance(decision(meaning), float) is retried


def test_what_may_have_been_carried_out_is_listed() -> None:
    """R10, R11: these leave the outcome of a POST open; a limiter's 429 does not."""
    expected = {
        Meaning.BUSY,
        Meaning.FAILING,
        Meaning.BROKEN,
        Meaning.REPEATED,
        Meaning.REDIRECT,
        Meaning.UNREADABLE,
        Meaning.FOREIGN,
        Meaning.OVERSIZED,
        Meaning.LOST,
    }
    assert {one for one in Meaning if one.is_open} == expected


def test_there_are_four_attempts() -> None:
    """R7: three waits, then the end."""
    assert isinstance(decision(Meaning.FAILING, attempt=3), float)
    assert decision(Meaning.FAILING, attempt=4) == Reason.ATTEMPTS


@pytest.mark.parametrize(("attempt", "longest"), [(1, 0.5), (2, 1.0), (3, 2.0), (6, 8.0), (9, 8.0)])
def test_waits_stay_in_their_bounds(attempt: int, longest: float) -> None:
    """R7: from 0.25 s to at most min(8, 0.5 * 2^i) s."""
    assert backoff(attempt, 0.0) == 0.25
    assert backoff(attempt, 1.0) == longest


def test_waits_are_spread() -> None:
    """R7: 100 samples give more than 90 distinct values, all in bounds."""
    drawn = [backoff(2, fraction()) for _ in range(100)]
    assert len(set(drawn)) > 90
    assert all(0.25 <= wait <= 1.0 for wait in drawn)


def test_the_services_wish_is_a_floor() -> None:
    """R8: Retry-After is waited at least, and our own wait stays when it is longer."""
    assert decision(Meaning.LIMITED, asked=2.0) == 2.0
    assert decision(Meaning.LIMITED, asked=0.1) == 0.375


def test_a_wish_beyond_the_deadline_stops_at_once() -> None:
    """R8: waiting past the deadline is pointless, and the reason is told apart."""
    assert decision(Meaning.LIMITED, asked=3600.0) == Reason.RETRY_AFTER
    assert decision(Meaning.LIMITED, time_left=0.3) == Reason.DEADLINE


def test_a_post_is_not_repeated_with_an_old_key() -> None:
    """R4: a machine that slept for a day does not send a key that the service has forgotten."""
    assert decision(Meaning.LOST, age=23 * 3600) == Reason.KEY_AGE
    assert isinstance(decision(Meaning.LOST, age=22 * 3600), float)
    assert isinstance(decision(Meaning.LOST, age=23 * 3600, method="GET"), float)


def test_four_connects_fit_into_the_deadline() -> None:
    """A host that never answers is tried four times within 60 s."""
    left, spent = 60.0, 0.0
    for attempt in range(1, 5):
        spent += connect_seconds(attempt, left - spent) + (backoff(attempt, 1.0))
    assert spent <= 60.0
    assert connect_seconds(1, 60.0) == 10.0
    assert connect_seconds(1, 2.0) == 0.5
    assert connect_seconds(4, 2.0) == 2.0


DATE = formatdate(NOW, usegmt=True)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2", 2.0),
        (" 120 ", 120.0),
        ("3600", 3600.0),
        ("86400", 86400.0),
        ("86401", None),
        ("1", 1.0),
        ("0", None),
        ("-5", None),
        ("abc", None),
        ("", None),
        ("1e12", None),
        ("1000000000000", None),
        ("9" * 400, None),
        ("2.5", None),
        ("+5", None),
        ("٣", None),
        ("5, 7", 7.0),
        ("7, abc, 5", 7.0),
        (f"2, {formatdate(NOW + 60, usegmt=True)}, 3", 60.0),
        (formatdate(NOW + 3600, usegmt=True), 3600.0),
        (formatdate(NOW - 10, usegmt=True), None),
        (formatdate(NOW + 10**9, usegmt=True), None),
        ("Tuesday, 14-Nov-23 23:13:20 GMT", 3600.0),
        ("Tue Nov 14 23:13:20 2023", 3600.0),
        ("Tue, 99 Nov 2023 23:13:20 GMT", None),
        ("Tue, 14 Xyz 2023 23:13:20 GMT", None),
        ("Tue, 14 Nov 2023 23:13 GMT", None),
        ("Thu, 01 Jan 99999999999999 00:00:00 GMT", None),
        ("Thu, 99999999999999999999 Jan 2020 00:00:00 GMT", None),
    ],
)
def test_retry_after_is_taken_only_if_it_makes_sense(value: str, seconds: float | None) -> None:
    """R8: seconds or a date; negative, past, garbage and absurd values are ignored."""
    assert retry_after((("retry-after", value),), NOW) == seconds


def test_a_date_is_measured_by_the_services_own_clock() -> None:
    """R8: a wrong clock on this machine does not turn an hour into nothing or for ever."""
    headers = (("retry-after", formatdate(NOW + 60, usegmt=True)), ("date", DATE))
    assert retry_after(headers, NOW - 99_999) == 60.0
    assert retry_after((("date", DATE),), NOW) is None


def test_an_absurd_date_of_the_service_is_left_out() -> None:
    """R8: a `Date` that no calendar has leaves this machine's clock to measure by."""
    headers = (
        ("retry-after", formatdate(NOW + 60, usegmt=True)),
        ("date", "Thu, 01 Jan 99999999999999 00:00:00 GMT"),
    )
    assert retry_after(headers, NOW) == 60.0


def test_dates_of_the_last_century_are_read() -> None:
    """RFC 9110 5.6.7: the examples there name one and the same moment."""
    forms = (
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
    )
    assert {http_date(form) for form in forms} == {784111777.0}


@pytest.mark.parametrize(("value", "seconds"), [("86400", 86400.0), ("86401", None)])
def test_wait_of_a_day_is_the_longest_that_is_believed(value: str, seconds: float | None) -> None:
    """R8: more than that is a mistake or an attack."""
    assert retry_after((("retry-after", value),), 0.0) == seconds


MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


@pytest.mark.parametrize(("number", "name"), [*enumerate(MONTHS, 1)])
def test_every_month_is_known(number: int, name: str) -> None:
    """RFC 9110 5.6.7: by these names, in every form; others are no dates."""
    found = datetime(2026, number, 9, 8, 7, 6, tzinfo=UTC).timestamp()
    for text in (f"Mon, 09 {name} 2026 08:07:06 GMT", f"Mon {name}  9 08:07:06 2026"):
        assert http_date(text) == found
    assert http_date(f"Mon, 09 {name.lower()} 2026 08:07:06 GMT") is None


@pytest.mark.parametrize(("year", "full"), [("00", 2000), ("49", 2049), ("50", 1950), ("94", 1994)])
def test_two_digits_are_a_year_of_these_hundred(year: str, full: int) -> None:
    """The oldest of the three forms; and a leap second is the one before it."""
    expected = datetime(full, 11, 6, 8, 49, 59, tzinfo=UTC).timestamp()
    assert http_date(f"Sunday, 06-Nov-{year} 08:49:60 GMT") == expected


def test_wait_that_ends_with_the_time_is_no_wait() -> None:
    """R4, R8: at the very end nothing is left to send in; a moment more, and it is sent."""
    wait = 0.375
    assert decision(Meaning.FAILING, time_left=wait) == Reason.DEADLINE
    assert decision(Meaning.FAILING, time_left=wait + 0.001) == wait
    assert decision(Meaning.LIMITED, time_left=2.0, asked=2.0) == Reason.RETRY_AFTER
    assert decision(Meaning.LIMITED, time_left=2.001, asked=2.0) == 2.0
    assert decision(Meaning.LOST, age=23 * 3600 - wait) == Reason.KEY_AGE
    assert decision(Meaning.LOST, age=23 * 3600 - wait - 0.001) == wait


def test_how_long_a_key_can_be_sent_again_is_said_in_one_place() -> None:
    """R4: who changes the hours changes them everywhere."""
    house = Path(svc.__file__).parent
    told = [each for each in house.rglob("*.py") if "it is safe to send" in each.read_text("utf-8")]
    assert told == [Path(retry.__file__)]
    assert retry.explain_repeat("k", "the same").startswith(
        "Within 23 hours it is safe to send the same"
    )
