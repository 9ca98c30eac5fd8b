"""Whether and when to try again: decisions without any input or output (promises R6-R8, R11)."""

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from svc.client.attempts import Meaning

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
_IN_PROGRESS = ("in_use", "in_progress")

RETRIED = frozenset(
    (
        Meaning.LIMITED,
        Meaning.BUSY,
        Meaning.FAILING,
        Meaning.UNREADABLE,
        Meaning.FOREIGN,
        Meaning.UNREACHED,
        Meaning.LOST,
    )
)
# After one of these nobody knows whether a POST was carried out (R10, R11).
OPEN = frozenset(
    (
        Meaning.BUSY,
        Meaning.FAILING,
        Meaning.BROKEN,
        Meaning.REPEATED,
        Meaning.REDIRECT,
        Meaning.UNREADABLE,
        Meaning.FOREIGN,
        Meaning.OVERSIZED,
        Meaning.LOST,
    )
)


class Reason(Enum):
    """Why there is no further attempt."""

    ANSWERED = "the answer is final"
    ATTEMPTS = "every attempt was used"
    DEADLINE = "the time is up"
    RETRY_AFTER = "the service asks for a longer wait than there is time"
    QUOTA = "too many other requests needed another attempt"
    KEY_AGE = "the idempotency key is too old to repeat safely"
    CLOCK_BEHIND = "the clock was put back, so that nobody can tell the key's age"


class Retry(NamedTuple):
    """Try again after so many seconds."""

    after: float


class Stop(NamedTuple):
    """Try no more."""

    reason: Reason


class Progress(NamedTuple):
    """Where a call stands after an attempt; times in seconds.

    Attributes:
        attempt: 1 for the first.
        time_left: until the total deadline.
        age: since the first attempt by the wall clock, which counts a suspended machine's sleep.
    """

    attempt: int
    time_left: float
    age: float = 0.0


def meaning_of(method: str, status: int, code: str | None, *, replayed: bool) -> Meaning:
    """Classifies an answer that is not a 2xx by its status, then by its code.

    `replayed` is whether the service says that the answer is a stored one.
    """
    if status == 429:  # noqa: PLR2004
        return Meaning.LIMITED
    if status == 409 and is_in_progress(code):  # noqa: PLR2004
        return Meaning.BUSY
    if 400 <= status < 500:  # noqa: PLR2004
        return Meaning.REFUSED
    if status < 400:  # noqa: PLR2004
        return Meaning.REDIRECT
    if replayed and method == "POST":
        return Meaning.REPEATED
    return Meaning.FAILING if status in _STATUSES_RETRIED else Meaning.BROKEN


def is_in_progress(code: str | None) -> bool:
    """Whether a 409's code says that a request with the same key still runs."""
    return code is not None and code.endswith(_IN_PROGRESS)


def decide(
    meaning: Meaning,
    progress: Progress,
    *,
    method: str,
    retry_after: float | None,
    random: Callable[[], float],
) -> Retry | Stop:
    """Says what to do after an attempt.

    `retry_after` is the service's wish in seconds or None; it is a floor under our own wait.
    `random` gives a number from 0 up to 1.
    """
    if meaning not in RETRIED:
        return Stop(Reason.ANSWERED)
    if progress.attempt >= ATTEMPTS:
        return Stop(Reason.ATTEMPTS)
    wait = max(backoff(progress.attempt, random()), retry_after or 0.0)
    if wait >= progress.time_left:
        asked = retry_after is not None and retry_after >= progress.time_left
        return Stop(Reason.RETRY_AFTER if asked else Reason.DEADLINE)
    if method == "POST" and progress.age + wait >= KEY_SAFE_SECONDS:
        return Stop(Reason.KEY_AGE)
    return Retry(wait)


def backoff(attempt: int, random: float) -> float:
    """The wait in seconds after attempt 1, 2, 3: from 0.25 to at most 0.5, 1, 2 (promise R7)."""
    ceiling = min(SLEEP_MAX, SLEEP_FIRST_MAX * 2.0 ** (attempt - 1))
    return SLEEP_MIN + (ceiling - SLEEP_MIN) * random


def connect_seconds(attempt: int, time_left: float) -> float:
    """How long one attempt may take to connect, so that all of them fit in the deadline."""
    attempts_left = max(1, ATTEMPTS + 1 - attempt)
    return min(CONNECT_SECONDS, time_left / attempts_left)
