"""Decides from its latest answers whether a target is well, away, or unfit and left alone.

`pump` has one `TargetHealth` for its target and asks it before and after each attempt.
"""

from collections.abc import Callable

from svc.clock import Clock
from svc.listen.http.connection import TargetReply
from svc.listen.inbox.interfaces import OpenItem


class TargetHealth:
    """Counts what a target makes of attempts.

    A target is unfit when as many attempts in a row got no answer as it has lanes; from then on one
    lane probes, until an answer comes.

    Attributes:
        probes: how often in a row one lane has looked whether an unfit target answers.
        why: the reason that the target is left alone for, None while it is not.
        since: from when on, in unix seconds.
        next_at: when an unfit target is probed next (unix seconds); None for one that is away.
    """

    def __init__(self, lanes: int, clock: Clock) -> None:
        self._lanes = lanes
        self._clock = clock
        self._silent = 0
        self.probes = 0
        self._failing = False
        self._taken_at = 0.0
        self._ails = True  # what an earlier run has left may be due with the first success
        self.why: str | None = None
        self.since = 0.0
        self.next_at: float | None = None

    @property
    def is_unfit(self) -> bool:
        """True when the target is to be left alone after the latest attempt."""
        return self._silent >= (1 if self.probes else self._lanes)

    def is_ailing(self, item: OpenItem) -> bool:
        """Returns whether no event has succeeded at the target since an item's previous attempt.

        Then the target may have failed and not the event, which is due with the target's next
        success. An event that fails while others succeed keeps to its schedule.
        """
        return self._failing if item.attempt == 1 else self._taken_at < item.last_at

    def note_reply(self, reply: TargetReply, *, ailing: bool) -> bool:
        """Records how an attempt ended; returns whether events that wait for a success are due."""
        if reply.status is None:
            self._silent += reply.trouble != "forbidden"
        else:
            self._silent = self.probes = 0
        if not reply.is_taken:
            self._failing = True
            self._ails |= ailing
            return False
        self._taken_at = self._clock.now()
        self._failing = False
        due, self._ails = self._ails, False
        return due

    def rest_of(self, seconds: Callable[[int], float]) -> float:
        """Returns how long an unfit target rests before one lane probes it."""
        self.probes += 1
        rest = seconds(self.probes)
        self.next_at = self._clock.now() + rest
        return rest

    def rests(self, why: str | None) -> bool:
        """Records why the target is left alone; returns whether that has changed."""
        news = self.why is None
        if news:
            self.since = self._clock.now()
        self.why = why or "no answer"
        return news

    def wakes(self) -> bool:
        """Records that the target is tried again; returns whether it counted as unfit until now."""
        self.next_at = None
        if not self.probes:
            self.why = None
        return self.why is None
