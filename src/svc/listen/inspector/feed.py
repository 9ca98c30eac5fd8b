"""Counts the records of a running listener for its inspector, and tells open pages of news.

A page hears only that something changed, a few times a second at most, and then asks for the
content that it shows; so a burst of events costs the listener only the counting.

`app.Inspector` passes each record to `Feed.emit`; `http.stream` pushes to the browsers.
"""

import asyncio
import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from svc.listen.output_records import EventReceived, Forwarded, ListenerRecord, Rejected
from svc.listen.owners import own

Push = Callable[[bytes], None]

_KEPT: Final = 200
_SOON_SECONDS: Final = 0.15
_ECHO_SECONDS: Final = 1.0  # what a forward came to is on the disk a moment after it was told
_BEAT_SECONDS: Final = 15.0
WATCHERS_MAX: Final = 16


@dataclass(frozen=True, slots=True)
class TurnedAway:
    """A delivery that was rejected; `number` counts them from 1."""

    number: int
    rejected: Rejected

    @property
    def time(self) -> float:
        """When it came, in unix seconds."""
        return self.rejected.time


class Feed:
    """Counts records, keeps the last rejections, notifies open pages; lives in one event loop."""

    def __init__(self) -> None:
        self.received = 0
        self.rejected = 0
        self._turned_away: deque[TurnedAway] = deque(maxlen=_KEPT)
        self._watchers: set[Push] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._beats = False
        self._news = False

    def emit(self, record: ListenerRecord) -> None:
        """Counts one record, and keeps it if it is a rejection."""
        match record:
            case EventReceived():
                self.received += 1
            case Rejected():
                self.rejected += 1
                self._turned_away.append(TurnedAway(self.rejected, record))
            case Forwarded():
                pass
            case _:
                return
        if not self._news:  # all watchers hear soon, together of what changes until then
            self._news = True
            self._schedule(_SOON_SECONDS)

    @property
    def turned_away(self) -> list[TurnedAway]:
        """The last rejections, the newest first."""
        return list(self._turned_away)[::-1]

    def find(self, number: int) -> TurnedAway | None:
        """Returns one rejection if it is still kept."""
        return next((one for one in self._turned_away if one.number == number), None)

    def watch(self, push: Push) -> bool:
        """Adds a watcher, whose `push` is called with all news; False if there are too many."""
        if len(self._watchers) >= WATCHERS_MAX:
            return False
        self._watchers.add(push)
        push(self._message())
        if not self._beats:
            self._beats = True
            self._beat_later()
        return True

    def leave(self, push: Push) -> None:
        """Removes a watcher."""
        self._watchers.discard(push)

    def _schedule(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, own(self._flush))

    def _flush(self) -> None:
        fresh, self._news = self._news, False
        self._push(self._message())
        if fresh:
            self._schedule(_ECHO_SECONDS)

    def _beat_later(self) -> None:
        asyncio.get_running_loop().call_later(_BEAT_SECONDS, own(self._show_life))

    def _show_life(self) -> None:
        """Sends a comment, by which a connection that is gone is noticed."""
        self._beat_later()
        self._push(b":\n\n")

    def _push(self, data: bytes) -> None:
        for push in tuple(self._watchers):
            push(data)

    def _message(self) -> bytes:
        counts = {"received": self.received, "rejected": self.rejected}
        return f"data: {json.dumps(counts)}\n\n".encode()
