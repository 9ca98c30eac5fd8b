"""Decides after each attempt whether and when to try again (promises R6-R8, R11).

`client` asks `decide` after each attempt: a wait in seconds, or the `Reason` to stop.
`connect_seconds` divides the deadline among the attempts. The functions are pure.
"""

from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple, Protocol

from svc.client.exchange import Headers, RawReply, Trouble, header


class Refusal(NamedTuple):
    """The fields of an error body of either shape (assumptions: Error codes)."""

    message: str
    type: str | None = None
    code: str | None = None
    param: str | None = None
    request_id: str | None = None


class Meaning(Enum):
    """The class of the result of an attempt, and what follows from it.

    Attributes:
        is_retried: whether another attempt may end otherwise (promise R6).
        is_open: whether a POST may have been carried out (promises R10, R11).
    """

    DONE = "done"
    REFUSED = "a definite 4xx"
    LIMITED = "429", "retried"
    BUSY = "409: the same key is in use by a request that still runs", "retried", "open"
    FAILING = "500, 502, 503 or 504", "retried", "open"
    BROKEN = "another 5xx", "open"
    REPEATED = "a 5xx that the service stored and replays", "open"
    REDIRECT = "3xx", "open"
    UNREADABLE = "a 2xx whose body is not what was asked for", "retried", "open"
    FOREIGN = "a 2xx that answers another request", "retried", "open"
    OVERSIZED = "a body over the limit", "open"
    UNREACHED = "not sent; worth another try", "retried"
    UNTRUSTED = "not sent; another try would end the same"
    LOST = "sent, no answer", "retried", "open"

    def __init__(self, _: str, *follows: str) -> None:
        self.is_retried = "retried" in follows
        self.is_open = "open" in follows


class AttemptResult(NamedTuple):
    """The classified result of one attempt.

    Attributes:
        detail: why it is not DONE, on one line.
        trouble: the reason if there is no answer.
        data: the parsed body of a DONE attempt.
        text: the exact body of a DONE attempt.
        slices: the exact text of each entry of a DONE list.
        retry_after: the checked seconds of `Retry-After` (promise R8), or None.
    """

    meaning: Meaning
    detail: str = ""
    trouble: Trouble | None = None
    raw: RawReply | None = None
    data: Any = None
    text: str = ""
    slices: tuple[str, ...] = ()
    refusal: Refusal | None = None
    retry_after: float | None = None
    request_id: str | None = None

    @property
    def status(self) -> int | None:
        """The HTTP status, or None without an answer."""
        return None if self.raw is None else self.raw.status


ATTEMPTS = 4
SLEEP_MIN = 0.25
SLEEP_FIRST_MAX = 0.5
SLEEP_MAX = 8.0
CONNECT_SECONDS = 10.0
# Past the key's retention of 24 h less a margin, a repeated POST would be a second one (R4).
KEY_SAFE_SECONDS = 23 * 3600
# A machine's clock is put right now and then; a step back by more than this is no such thing.
CLOCK_STEP_SECONDS = 10.0
# A longer wait than a day is no answer to "when": it is a mistake or an attack (R8).
RETRY_AFTER_MAX = 24 * 3600

_STATUSES_RETRIED = frozenset((500, 502, 503, 504))
_IN_PROGRESS = ("in_use", "in_progress")  # ends of a code: a request with the key still runs


class Reason(Enum):
    """The reason why there is no further attempt, in the words of the error."""

    ANSWERED = "the answer is final"
    ATTEMPTS = "every attempt was used"
    DEADLINE = "the time is up"
    RETRY_AFTER = "it asks for a longer wait than there is time"
    QUOTA = "too many requests of this run needed another attempt"
    KEY_AGE = "the idempotency key is too old to send it again"
    CLOCK_BEHIND = "the clock was put back, so that the idempotency key's age is not known"


class RetryQuota(Protocol):
    """A quota of further attempts that several clients share (promise R17)."""

    def take(self, *, timed_out: bool) -> bool:
        """Takes one further attempt from the quota; False if too little is left."""

    def give(self) -> None:
        """Returns a little to the quota after a success."""


def explain_repeat(key: str | None, what: str = "it") -> str:
    """The advice if it is unknown whether a POST was carried out."""
    hours = KEY_SAFE_SECONDS // 3600
    return f"Within {hours} hours it is safe to send {what} again with --idempotency-key {key}"


def classify_reply(method: str, status: int, code: str | None, *, replayed: bool) -> Meaning:
    """Classifies an answer that is no 2xx by its status, then its code."""
    if status < 400:  # noqa: PLR2004
        return Meaning.REDIRECT
    if status == 429:  # noqa: PLR2004
        return Meaning.LIMITED
    if status == 409 and (code or "").endswith(_IN_PROGRESS):  # noqa: PLR2004
        return Meaning.BUSY
    if status < 500:  # noqa: PLR2004
        return Meaning.REFUSED
    if replayed and method == "POST":
        return Meaning.REPEATED
    return Meaning.FAILING if status in _STATUSES_RETRIED else Meaning.BROKEN


def decide(
    meaning: Meaning,
    *,
    attempt: int,
    time_left: float,
    age: float,
    method: str,
    retry_after: float | None,
    random: Callable[[], float],
) -> float | Reason:
    """Returns in how many seconds to try again after an attempt, or why there is no further one.

    `attempt` is the number of the attempt, from 1; `time_left` is until the total deadline, and
    `age` since the first attempt, by the wall clock, which includes the machine's sleep.
    `retry_after` is the minimum wait that the service demands, in seconds, or None. `random`
    returns a number from 0 up to 1.
    """
    if not meaning.is_retried:
        return Reason.ANSWERED
    if attempt >= ATTEMPTS:
        return Reason.ATTEMPTS
    wait = max(backoff(attempt, random()), retry_after or 0.0)
    if wait >= time_left:
        asked = retry_after is not None and retry_after >= time_left
        return Reason.RETRY_AFTER if asked else Reason.DEADLINE
    if method == "POST" and age + wait >= KEY_SAFE_SECONDS:
        return Reason.KEY_AGE
    return wait


def backoff(attempt: int, random: float) -> float:
    """The wait in seconds after attempt 1, 2, 3: from 0.25 to at most 0.5, 1, 2 (promise R7)."""
    ceiling = min(SLEEP_MAX, SLEEP_FIRST_MAX * 2.0 ** (attempt - 1))
    return SLEEP_MIN + (ceiling - SLEEP_MIN) * random


def connect_seconds(attempt: int, time_left: float) -> float:
    """The time limit for connecting, such that all attempts fit in the deadline."""
    attempts_left = max(1, ATTEMPTS + 1 - attempt)
    return min(CONNECT_SECONDS, time_left / attempts_left)


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DIGITS_MAX = 12
_CENTURY_GUESS = 50


def retry_after(headers: Headers, now: float) -> float | None:
    """Parses `Retry-After` to seconds; None if it is absent or invalid.

    A date is compared with the `Date` header of the answer if there is one, so that a wrong clock
    of this machine has no effect, else with `now` (Unix seconds).
    """
    value = (header(headers, "retry-after") or "").strip()
    # Several headers, or several figures in one: the longest wait is right for each of them.
    waits = [_seconds(part.strip(), headers, now) for part in _parts(value)]
    return max((wait for wait in waits if wait is not None), default=None)


def _parts(value: str) -> list[str]:
    """Splits the values of repeated headers at commas, except the comma within a date."""
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
    """Parses the three date formats of RFC 9110 5.6.7 to Unix seconds; None if invalid."""
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
        number = int(year) + (0 if len(year) > 2 else 1900 if int(year) >= _CENTURY_GUESS else 2000)  # noqa: PLR2004
        moment = datetime(
            number, _MONTHS.index(month) + 1, int(day), hour, minute, min(second, 59), tzinfo=UTC
        )
    except (ValueError, OverflowError):  # the latter where a number is beyond a C integer
        return None
    return moment.timestamp()
