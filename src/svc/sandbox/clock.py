"""The sandbox's virtual clock, and conversions of its times, which are in microseconds.

The `engine` has one `VirtualClock`: it runs, stands still, or is turned forward by `svc sandbox
advance`. Every time in the API is read from it; comparisons use the second that is shown.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Literal, get_args

from svc.clock import Clock

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = 1_000_000  # microseconds
LAST = 253_402_300_799_999_999  # microseconds: the end of the year 9999, where dates end
_MICRO = timedelta(microseconds=1)
_SHAPE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


def micros(moment: datetime) -> int:
    """Microseconds since 1970 of an aware datetime, exactly."""
    return (moment - EPOCH) // _MICRO


def moment(micros: int) -> datetime:
    """The aware UTC datetime of microseconds since 1970, exactly.

    Raises:
        OverflowError: no date is that far away.
    """
    return EPOCH + timedelta(microseconds=micros)


def text(moment: datetime) -> str:
    """`YYYY-MM-DDTHH:MM:SSZ`; fractions of a second are cut (assumptions: Conventions)."""
    return moment.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def text_of(micros: int) -> str:
    """The text of a moment that is given in microseconds since 1970."""
    return _second_text(micros // SECOND)


@lru_cache(maxsize=64)  # an answer names its second a few times, and so does the next one
def _second_text(second: int) -> str:
    return text(moment(second * SECOND))


def parse(value: str) -> datetime:
    """Reads `YYYY-MM-DDTHH:MM:SSZ` and nothing else; raises ValueError: any other, or no date."""
    if _SHAPE.fullmatch(value) is None:
        raise ValueError(value)
    return datetime.fromisoformat(value)


ClockMode = Literal["realtime", "frozen"]
AdvanceUntil = Literal["next", "idle"]  # the next job is done, or none is left


class VirtualClock:
    """Virtual time; it never goes back, whatever the real clock does.

    Its moments are whole seconds in microseconds: what happens at a moment happens at the second
    that the API shows for it, and parts of a second only say how long to wait really.
    """

    _mode: ClockMode
    _offset: int
    _now: int

    def __init__(self, real: Clock) -> None:
        self._real = real
        self.restart()

    @property
    def mode(self) -> ClockMode:
        return self._mode

    def now_text(self) -> str:
        """The present moment as the API writes it."""
        return text_of(self.now())

    def now(self) -> int:
        """The second that is running, in microseconds since 1970."""
        exact = self._read_exact()
        return exact - exact % SECOND

    def _read_exact(self) -> int:
        if self._mode == "realtime":
            ahead = self._read_real() + self._offset
            self._now = max(self._now, ahead)
            self._offset += self._now - ahead  # the real clock was set back: go on from here
        return self._now

    def move_to(self, moment: int) -> None:
        """Goes forward to a moment; a moment that has passed changes nothing."""
        before = self._read_exact()
        self._now = max(before, moment)
        self._offset += self._now - before

    def switch(self, mode: ClockMode) -> None:
        """Freezes the clock where it is, or lets it run on from there."""
        now = self._read_exact()
        self._mode = mode
        self._offset = now - self._read_real()

    def restart(self) -> None:
        """Follows the real clock without a distance, as a new sandbox does."""
        self._mode, self._offset, self._now = "realtime", 0, self._read_real()

    @property
    def position(self) -> tuple[ClockMode, int, int]:
        """Where the clock stands; give it to `rewind` to undo what has set it since."""
        return self._mode, self._offset, self._now

    def rewind(self, position: tuple[ClockMode, int, int]) -> None:
        """Returns to an earlier position."""
        self._mode, self._offset, self._now = position

    def dump(self) -> dict[str, Any]:
        """The state to save; `now` keeps a restart from going back."""
        return {"mode": self._mode, "offset": self._offset, "now": self._read_exact()}

    def load(self, state: Mapping[str, Any]) -> None:
        """Takes up a saved state; raises KeyError, ValueError: it is none, or has no date."""
        mode, offset, now = state["mode"], state["offset"], state["now"]
        if mode not in get_args(ClockMode):
            raise ValueError(f"the mode {mode}")
        if type(offset) is not int or type(now) is not int or not 0 <= now <= LAST:
            raise ValueError(f"the time {now}")
        if mode == "realtime" and self._read_real() + offset > LAST:
            raise ValueError(f"the distance {offset}")
        self._mode, self._offset, self._now = mode, offset, now

    def seconds_until(self, moment: int) -> float | None:
        """How long to wait really for a moment; None if the clock stands still before it."""
        wait = (moment - self._read_exact()) / SECOND
        if wait <= 0:
            return 0.0
        return wait if self._mode == "realtime" else None

    def _read_real(self) -> int:
        return int(self._real.now() * SECOND)
