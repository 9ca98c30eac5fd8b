"""The seam between receiving and forwarding: an inbox, and nothing else (promise R50).

The receiving half (`reception`) verifies a delivery, stores it as an Arrival and answers. The
forwarding half (`dispatch`) reads what is open, sends it, and stores Attempts and how each event
ended. In one process the receiving half also hands each new event over, which saves reading it
back; two processes need only an inbox that both can reach, such as a table of a shared database or
a message broker, and somebody who tells the forwarding half to look (`Dispatcher.look`).

Everything here is plain data, so that it can cross a process border.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from svc.errors import LocalError
from svc.listen.delivery import Delivery

# `reset` closes what a sandbox had sent before it was reset and no target had taken by then.
Outcome = Literal["forwarded", "failed", "unrouted", "withheld", "reset"]


@dataclass(frozen=True, slots=True)
class Arrival:
    """A verified delivery to keep; `outcome` is set when nothing is to be forwarded."""

    delivery: Delivery
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class Kept:
    """Where an arrival was kept.

    `duplicate`: it was there before and is not to be forwarded. `again`: it was there before and
    is to be forwarded again. `open`: its forwards have not all ended yet.
    """

    seq: int
    duplicate: bool
    again: bool
    open: bool


@dataclass(frozen=True, slots=True)
class Attempt:
    """One forward that was tried; `reply` is the beginning of the answer's body.

    `final`: its target gets the event no more, whatever becomes of it at others.
    """

    seq: int
    target: str
    number: int
    started_at: float
    milliseconds: float
    status: int | None
    error: str | None
    reply: bytes
    replay: bool = False
    final: bool = False


@dataclass(frozen=True, slots=True)
class Tried:
    """How often a target was tried, and when (unix seconds) the last attempt there ended."""

    attempts: int
    last_at: float


@dataclass(frozen=True, slots=True)
class OpenItem:
    """A kept delivery whose forwards have not all ended.

    `tried` tells of the attempts at each target; `ended` holds the targets that get it no more,
    and whether they have taken it.
    """

    seq: int
    event_id: str
    type: str
    object_id: str
    headers: bytes
    body: bytes
    tried: Mapping[str, Tried]
    ended: Mapping[str, bool]


@dataclass(slots=True)
class Batch:
    """What goes into the inbox in one transaction."""

    arrivals: list[Arrival] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    settled: list[tuple[int, Outcome]] = field(default_factory=list)


class Inbox(Protocol):
    """What both halves need of an inbox. All calls block and raise LocalError.

    What an implementation owes: `store` returns when the whole batch would survive a crash, and
    none of it is visible if it raises; within one scope an event (its id and its body: a sandbox
    that was reset gives ids anew) gets one seq for ever (for 72 h or more); seqs grow in the order
    of storing; an event is open from its arrival without an outcome until its outcome is stored;
    what is open is never forgotten. Calls come from one thread at a time, not always the same one.
    """

    def store(self, batch: Batch) -> list[Kept | LocalError]:
        """Commits a batch durably; gives one Kept for each arrival, in order.

        What is settled in a batch is settled before its arrivals are looked at. An arrival that
        cannot be kept, while others can, has an error in its place.
        """

    def open_after(self, seq: int, object_id: str | None = None) -> list[OpenItem]:
        """Gives the next open items behind `seq`, oldest first; none at the end.

        With `object_id` only those that changed this object.
        """

    def open_types(self, seq: int) -> Mapping[str, int]:
        """Counts the open items behind `seq` by their event type."""

    def open_item(self, seq: int) -> OpenItem | None:
        """Gives one item if it is still open."""

    def prune(self, now: float) -> int:
        """Forgets some of what has ended over a week ago; gives how many, 0 when nothing is left.

        `now` is in unix seconds.
        """
