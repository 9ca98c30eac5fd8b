"""The sandbox's clock: it follows the real one at a distance, or stands still."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from svc.clock import Clock
from svc.sandbox.times import LAST, SECOND

ClockMode = Literal["realtime", "frozen"]


class VirtualClock:
    """Virtual time in microseconds; it never goes back, whatever the real clock does."""

    def __init__(self, real: Clock) -> None:
        self._real = real
        self._mode: ClockMode = "realtime"
        self._offset = 0
        self._now = self._real_now()

    @property
    def mode(self) -> ClockMode:
        return self._mode

    def now(self) -> int:
        """Microseconds since 1970."""
        if self._mode == "realtime":
            ahead = self._real_now() + self._offset
            if ahead < self._now:  # the real clock was set back: go on from here
                self._offset += self._now - ahead
            else:
                self._now = ahead
        return self._now

    def move_to(self, moment: int) -> None:
        """Goes forward to a moment; a moment that has passed changes nothing."""
        ahead = moment - self.now()
        if ahead > 0:
            self._now = moment
            self._offset += ahead

    def switch(self, mode: ClockMode) -> None:
        """Freezes the clock where it is, or lets it run on from there."""
        now = self.now()
        self._mode = mode
        self._offset = now - self._real_now()

    def restart(self) -> None:
        """Follows the real clock without a distance, as a new sandbox does."""
        self._mode, self._offset, self._now = "realtime", 0, self._real_now()

    def dump(self) -> dict[str, Any]:
        """The state to save; `now` keeps a restart from going back."""
        return {"mode": self._mode, "offset": self._offset, "now": self.now()}

    def load(self, state: Mapping[str, Any]) -> None:
        """Takes up a state that was saved.

        Raises:
            KeyError, ValueError: it is none, or leads to a time that has no date.
        """
        mode, offset, now = state["mode"], state["offset"], state["now"]
        if mode not in get_args(ClockMode):
            raise ValueError(f"the mode {mode}")
        if type(offset) is not int or type(now) is not int or not 0 <= now <= LAST:
            raise ValueError(f"the time {now}")
        if mode == "realtime" and self._real_now() + offset > LAST:
            raise ValueError(f"the distance {offset}")
        self._mode, self._offset, self._now = mode, offset, now

    def seconds_until(self, moment: int) -> float | None:
        """How long to wait really for a moment; None if the clock stands still before it."""
        wait = (moment - self.now()) / SECOND
        if wait <= 0:
            return 0.0
        return wait if self._mode == "realtime" else None

    def _real_now(self) -> int:
        return int(self._real.now() * SECOND)
