"""One limit over everything that a call does, on a clock that never jumps (promise R9)."""

from svc.clock import Clock


class Deadline:
    """A moment on the monotonic clock."""

    __slots__ = ("_at", "_clock")

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._at = clock.monotonic() + seconds

    def left(self) -> float:
        """Seconds that remain; zero or less once it has passed."""
        return self._at - self._clock.monotonic()

    def within(self, seconds: float) -> "Deadline":
        """Returns a deadline so many seconds from now, or this one's if that comes first."""
        return Deadline(self._clock, min(seconds, self.left()))
