"""When a forward is tried again (spec: Delivery and retries; the fast schedule is svc's own)."""

from dataclasses import dataclass
from typing import Final, Literal

from svc.listen.forward.connection import TargetReply
from svc.service.facts import (
    WEBHOOK_RETRY_DELAYS,
    WEBHOOK_RETRY_INTERVAL,
    WEBHOOK_RETRY_WINDOW_SECONDS,
)

RetryMode = Literal["fast", "real", "off"]

FAST_DELAYS: Final = (2.0, 10.0, 60.0, 600.0)
FAST_INTERVAL: Final = 3600.0
_TRANSIENT: Final = frozenset((408, 425, 429))
_SERVER_ERROR: Final = 500
_REST_FIRST_SECONDS: Final = 1.0
_REST_MOST_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of an event at a target after an attempt.

    `away`: the target cannot be reached, and the event waits for it as if nothing had been tried.
    Else it is tried again after `later` seconds; None where it was taken or is given up.
    """

    away: bool = False
    later: float | None = None


def decide(retry: RetryMode, reply: TargetReply, attempt: int) -> Decision:
    """Decides after attempt number `attempt` (from 1).

    `fast`: a target that is away is waited for; what it may take another time (no answer, 408,
    425, 429, 5xx) is tried again by svc's own schedule, any other answer is final. `real`: the
    service's schedule for every failure. `off`: one attempt.
    """
    if reply.is_taken or retry == "off":
        return Decision()
    if retry == "real":
        return Decision(later=real_delay(attempt))
    if reply.trouble == "unreachable":
        return Decision(away=True)
    return Decision(later=fast_delay(attempt) if may_pass(reply) else None)


def may_pass(reply: TargetReply) -> bool:
    """Says whether a target may take later what it has not taken now."""
    if reply.status is None:
        return reply.trouble != "forbidden"
    return reply.status in _TRANSIENT or reply.status >= _SERVER_ERROR


def real_delay(attempt: int) -> float | None:
    """Gives the service's delay after an attempt, in seconds; None after the last one."""
    return _delay(attempt, WEBHOOK_RETRY_DELAYS, WEBHOOK_RETRY_INTERVAL)


def fast_delay(attempt: int) -> float | None:
    """Gives svc's own delay after an attempt, in seconds; None after the last one."""
    return _delay(attempt, FAST_DELAYS, FAST_INTERVAL)


def rest_seconds(failures: int) -> float:
    """Gives how long an unfit target is left alone after so many probes in a row (from 1)."""
    return min(_REST_FIRST_SECONDS * 2.0 ** min(failures - 1, 10), _REST_MOST_SECONDS)


def _delay(attempt: int, delays: tuple[float, ...], interval: float) -> float | None:
    """Attempts are made within three days of the first one (assumptions: Delivery)."""
    if attempt <= len(delays):
        return delays[attempt - 1]
    so_far = sum(delays) + interval * (attempt - len(delays))
    return interval if so_far <= WEBHOOK_RETRY_WINDOW_SECONDS else None
