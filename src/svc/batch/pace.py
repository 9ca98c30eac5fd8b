"""How fast a batch goes: the user's limit, and the service's when it says 429 (promise R8)."""

from threading import Lock
from typing import Final

from svc.client.quota import RetryQuota
from svc.clock import Clock

# After a 429: a little below what went through, then a little more every second.
_CUT: Final = 0.85
_GROWTH_PER_SECOND: Final = 1.0
_WINDOW_SECONDS: Final = 1.0  # answers to requests that were under way say nothing new
_SLOWEST: Final = 0.5

ROWS_PER_RETRY: Final = 2
_UNANSWERED_MAX: Final = 20  # rows one after the other
_RETRY_COST: Final = 5
_CAPACITY_MAX: Final = 500
_CAPACITY_MIN: Final = 15  # three further attempts: what a single command has


class Pace:
    """Gives every request its turn; shared by all workers.

    `rate` is a limit in requests per second, or None. Whoever asks for a turn waits as long as it
    says.
    """

    def __init__(self, clock: Clock, rate: float | None) -> None:
        self._clock = clock
        self._most = rate
        self._rate = rate
        self._next = clock.monotonic()
        self._since = self._next
        self._through = 0
        self._lock = Lock()

    def turn(self) -> float:
        """Takes the next turn and says in how many seconds it comes."""
        with self._lock:
            now = self._clock.monotonic()
            at = max(now, self._next)
            self._next = at + 1 / self._rate if self._rate is not None else at
            return at - now

    def went_through(self) -> None:
        """Remembers a request that was not turned away; after a cut, speeds up again."""
        with self._lock:
            self._through += 1
            if self._rate is not None and self._rate != self._most:
                faster = self._rate + _GROWTH_PER_SECOND / self._rate
                self._rate = faster if self._most is None else min(faster, self._most)

    def was_limited(self) -> None:
        """Slows all workers down below the pace that the service has taken."""
        with self._lock:
            now = self._clock.monotonic()
            span = now - self._since
            if self._rate is not None and self._rate != self._most and span < _WINDOW_SECONDS:
                return
            seen = self._through / max(span, _WINDOW_SECONDS)
            known = seen if self._rate is None else min(seen, self._rate)
            self._rate = max(_SLOWEST, _CUT * known)
            self._next = max(self._next, now + _WINDOW_SECONDS)
            self._since, self._through = now, 0


class SharedQuota(RetryQuota):
    """The retry allowance of one batch (promise R17): a service that is down ends it soon.

    It is 500 for 200 rows or more, and less for fewer, so that rows and further attempts together
    are at most one and a half requests a row. A service that takes requests and never answers uses
    none of it, since a row then waits out its deadline in one attempt: rows without an answer are
    counted as well.

    Attributes:
        exhausted: whether no other row should be begun.
    """

    def __init__(self, rows: int) -> None:
        most = _RETRY_COST * rows // ROWS_PER_RETRY
        super().__init__(max(_CAPACITY_MIN, min(_CAPACITY_MAX, most)))
        self.exhausted = False
        self._unanswered = 0

    def take(self, *, timed_out: bool) -> bool:
        """Pays for one further attempt; false if there is not enough left."""
        paid = super().take(timed_out=timed_out)
        self.exhausted = self.exhausted or not paid
        return paid

    def row_ended(self, *, answered: bool) -> None:
        """Remembers whether a row got a definite answer in the end."""
        self._unanswered = 0 if answered else self._unanswered + 1
        self.exhausted = self.exhausted or self._unanswered >= _UNANSWERED_MAX
