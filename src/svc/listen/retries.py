"""When a forward is tried again: pure decisions, no I/O (spec: Delivery and retries)."""

from dataclasses import dataclass
from typing import Final, Literal

from svc.listen.link import Reply
from svc.listen.records import is_success
from svc.spec import (
    WEBHOOK_RETRY_DELAYS,
    WEBHOOK_RETRY_INTERVAL,
    WEBHOOK_RETRY_WINDOW_SECONDS,
)

Retry = Literal["fast", "real", "off"]

_FAST_FIRST_SECONDS: Final = 1.0
_FAST_MOST_SECONDS: Final = 30.0
_MOST_CLOSES: Final = 5  # a target that dies of one event must not stop all others for ever


@dataclass(frozen=True, slots=True)
class Done:
    """The target took the event."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The target did not take the event and it is not tried again."""


@dataclass(frozen=True, slots=True)
class Hold:
    """The target is away: everything for it waits, and this event goes first."""


@dataclass(frozen=True, slots=True)
class Later:
    """This event alone is tried again after so many seconds."""

    seconds: float


Decision = Done | Failed | Hold | Later


def decide(retry: Retry, reply: Reply, attempt: int, closes: int = 0) -> Decision:
    """Decides after attempt number `attempt` (from 1).

    `closes` counts the attempts of this run in which the target closed the connection of this
    event alone, this one included; those before a restart or at a target that was away do not
    count. `fast`: a target that is away is waited for, an HTTP error is final. `real`: the
    service's own schedule for every failure. `off`: one attempt.
    """
    if is_success(reply.status):
        return Done()
    if retry == "real":
        delay = real_delay(attempt)
        return Failed() if delay is None else Later(delay)
    if retry == "fast" and reply.trouble == "unreachable":
        return Hold()
    if retry == "fast" and reply.trouble == "closed" and closes < _MOST_CLOSES:
        return Hold()
    return Failed()


def real_delay(attempt: int) -> float | None:
    """Gives the service's delay after an attempt, in seconds; None after the last one.

    An attempt is made only if it falls within three days of the first (assumptions: Delivery).
    """
    if attempt <= len(WEBHOOK_RETRY_DELAYS):
        return WEBHOOK_RETRY_DELAYS[attempt - 1]
    so_far = sum(WEBHOOK_RETRY_DELAYS)
    so_far += WEBHOOK_RETRY_INTERVAL * (attempt - len(WEBHOOK_RETRY_DELAYS))
    return WEBHOOK_RETRY_INTERVAL if so_far <= WEBHOOK_RETRY_WINDOW_SECONDS else None


def seconds_left(retry: Retry, attempts: int, last_at: float, now: float) -> float:
    """Gives how long an event that was tried in an earlier run still has to wait, in seconds.

    The service's schedule goes on where it stood at the last attempt (`last_at`, unix seconds);
    the other ways of retrying begin anew.
    """
    delay = real_delay(attempts) if retry == "real" and attempts else None
    return 0.0 if delay is None else min(max(last_at + delay - now, 0.0), delay)


def hold_seconds(failures: int) -> float:
    """Gives how long a target is left alone after so many failures in a row (from 1)."""
    return min(_FAST_FIRST_SECONDS * 2.0 ** min(failures - 1, 10), _FAST_MOST_SECONDS)
