"""One allowance of further attempts for all requests of a batch (promise R17)."""

from threading import Lock

CAPACITY = 500
RETRY_COST = 5
TIMEOUT_COST = 10
REFUND = 1


class RetryQuota:
    """Runs dry when a service is down, so that a long batch does not try each row four times.

    It may be shared by the clients of several threads.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._left = capacity
        self._lock = Lock()

    def take(self, *, timed_out: bool) -> bool:
        """Pays for one further attempt; false if there is not enough left."""
        cost = TIMEOUT_COST if timed_out else RETRY_COST
        with self._lock:
            if self._left < cost:
                return False
            self._left -= cost
            return True

    def give(self) -> None:
        """Pays a little back for a request that succeeded."""
        with self._lock:
            self._left = min(self._capacity, self._left + REFUND)

    @property
    def is_dry(self) -> bool:
        """Whether no further attempt can be paid for."""
        return self._left < RETRY_COST
