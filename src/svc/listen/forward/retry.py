"""The schedule by which a forward is tried again (spec: Delivery; the fast schedule is svc's own).

`pump` asks `retry_in` after each failed attempt: seconds until the next one, or None to give up.
"""

from typing import Final, Literal

from svc.listen.http.connection import TargetReply
from svc.service.facts import (
    WEBHOOK_RETRY_DELAYS,
    WEBHOOK_RETRY_INTERVAL,
    WEBHOOK_RETRY_WINDOW_SECONDS,
)

RetryMode = Literal["fast", "real", "off"]

_SCHEDULES: Final[dict[RetryMode, tuple[tuple[float, ...], float]]] = {
    "fast": ((2.0, 10.0, 60.0, 600.0), 3600.0),
    "real": (WEBHOOK_RETRY_DELAYS, WEBHOOK_RETRY_INTERVAL),
}
_TRANSIENT: Final = frozenset((408, 425, 429))
_SERVER_ERROR: Final = 500
_REST_FIRST_SECONDS: Final = 1.0
_REST_MOST_SECONDS: Final = 30.0


def retry_in(retry: RetryMode, reply: TargetReply, attempt: int) -> float | None:
    """Returns when to try again after attempt number `attempt` (from 1), in seconds.

    None where the event was taken or is given up. `fast`: what the target may take another time
    (no answer, 408, 425, 429, 5xx) is tried again by svc's own schedule, any other answer is final.
    `real`: the service's schedule for every failure. `off`: one attempt.
    """
    given_up = retry == "off" or (retry == "fast" and not may_pass(reply))
    return None if reply.is_taken or given_up else delay_after(retry, attempt)


def may_pass(reply: TargetReply) -> bool:
    """Returns whether a target may take later what it has not taken now."""
    if reply.status is None:
        return reply.trouble != "forbidden"
    return reply.status in _TRANSIENT or reply.status >= _SERVER_ERROR


def delay_after(retry: RetryMode, attempt: int) -> float | None:
    """Returns a schedule's delay after an attempt, in seconds; None after the last one.

    Attempts are made within three days of the first one (assumptions: Delivery).
    """
    delays, interval = _SCHEDULES[retry]
    if attempt <= len(delays):
        return delays[attempt - 1]
    so_far = sum(delays) + interval * (attempt - len(delays))
    return interval if so_far <= WEBHOOK_RETRY_WINDOW_SECONDS else None


def rest_seconds(failures: int) -> float:
    """Returns how long an unfit target is left alone after so many probes in a row (from 1)."""
    return min(_REST_FIRST_SECONDS * 2.0 ** min(failures - 1, 10), _REST_MOST_SECONDS)
