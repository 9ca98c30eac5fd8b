"""The token bucket of each mode, on the real clock (assumptions: Error codes)."""

import math
from typing import Final

from svc.clock import Clock
from svc.sandbox.problems import Problem

RATES: Final = {"live": 100, "test": 25}  # requests per second; the burst is as large


class RateLimit:
    """Lets through what the rate allows; the account has one bucket in each mode."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}  # tokens, and when they were counted

    def take(self, mode: str) -> None:
        """Takes a token; raises Problem 429 with `Retry-After` if there is none."""
        rate, now = RATES[mode], self._clock.monotonic()
        tokens, counted = self._buckets.get(mode, (float(rate), now))
        tokens = min(rate, tokens + (now - counted) * rate)
        if tokens < 1:
            self._buckets[mode] = (tokens, now)
            raise too_many(math.ceil((1 - tokens) / rate))
        self._buckets[mode] = (tokens - 1, now)


def too_many(retry_after: int) -> Problem:
    """The 429 answer; `retry_after` is whole seconds, at least 1."""
    headers = {"Retry-After": str(max(1, retry_after))}
    return Problem(429, "rate_limit", "Too many requests; wait a moment.", headers=headers)
