"""The seams of a listener: a source that deliveries come from, an inbox that they go into (R50).

The receiving half (`receive`) verifies a delivery, stores it as an Arrival and answers. The
forwarding half (`forward`) reads what is open, sends it, and stores Attempts and how each event
ended. In one process the receiving half also hands each new event over, which saves reading it
back; two processes need only an inbox that both can reach, such as a table of a shared database or
a message broker, and somebody who tells the forwarding half to look (`Dispatcher.look`).

Everything here is plain data, so that it can cross a process border.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from svc.errors import LocalError
from svc.listen.values import value_class
from svc.listen.verify.verify import Delivery

# `reset` closes what a sandbox had sent before it was reset and no target had taken by then,
# `returned` what was handed back to those who share a queue.
DeliveryOutcome = Literal["forwarded", "failed", "unrouted", "withheld", "reset", "returned"]


@dataclass(frozen=True, slots=True)
class Position:
    """The place of an event in a log: its number there, from 1, and its id.

    `after` is the number of the one that was read before it, None where reading has begun anew.
    """

    seq: int
    event_id: str
    after: int | None = None


@value_class
class Arrival:
    """A verified delivery to keep; `outcome` is set when nothing is to be forwarded.

    `position` is where a log has it; `redelivered` counts how often it was handed out before.
    """

    delivery: Delivery
    outcome: DeliveryOutcome | None
    position: Position | None = None
    redelivered: int = 0


@value_class
class Kept:
    """Where an arrival was kept.

    `duplicate`: it was there before and is not to be forwarded. `again`: it was there before and
    is to be forwarded again. `open`: its forwards have not all ended yet.
    """

    seq: int
    duplicate: bool
    again: bool
    open: bool


@value_class
class ForwardAttempt:
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
    and whether they have taken it. `redelivered` counts how often the event was handed out before
    it came here.
    """

    seq: int
    event_id: str
    type: str
    object_id: str
    headers: bytes
    body: bytes
    tried: Mapping[str, Tried]
    ended: Mapping[str, bool]
    redelivered: int = 0


@dataclass(slots=True)
class Batch:
    """What goes into the inbox in one transaction."""

    arrivals: list[Arrival] = field(default_factory=list)
    attempts: list[ForwardAttempt] = field(default_factory=list)
    settled: list[tuple[int, DeliveryOutcome]] = field(default_factory=list)

    @property
    def has_results(self) -> bool:
        """True when it says how forwards went."""
        return bool(self.attempts or self.settled)


class Oversized(LocalError):  # noqa: N818  it says what is the matter
    """An arrival is larger than what an inbox takes, and always will be."""


Answer = Callable[[int], None]


class Source(Protocol):
    """Where deliveries come from; made and used inside one event loop, once.

    What an implementation owes: each delivery that it has not heard a good answer about comes
    again, in this run or in the next one.
    """

    @property
    def died(self) -> "asyncio.Future[None] | None":
        """Done, with its error, when nothing more will come; None of one that cannot say so."""

    async def start(self) -> None:
        """Begins to give deliveries."""

    async def stop_accepting(self) -> None:
        """Takes no new deliveries from outside; those under way go on."""

    async def close(self) -> None:
        """Lets go of everything; answers that were given by now still count."""


class Inbox(Protocol):
    """What both halves need of an inbox. All calls block and raise LocalError.

    What an implementation owes: `store` returns when the whole batch would survive a crash, and
    none of it is visible if it raises (an inbox that several share may show a part of what raised:
    the sender comes again, and ids count it once); within one scope an event (its id and its body:
    a sandbox that was reset gives ids anew) gets one seq for ever (for 72 h or more); seqs grow in
    the order of storing; an event is open from its arrival without an outcome until its outcome is
    stored; what is open is never forgotten. An inbox that nothing is forwarded from has nothing
    open. Calls come from one thread at a time, not always the same one.
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


@runtime_checkable
class InPlace(Protocol):
    """What an inbox in a file offers besides: to look whether the file is where it was."""

    def check_in_place(self) -> None:
        """Raises LocalError where the file was deleted or replaced: what is stored is lost then."""


@runtime_checkable
class AtOnce(Protocol):
    """What an inbox may offer besides, to spare a group the way to a thread and back."""

    def store_at_once(self, batch: Batch) -> list[Kept | LocalError] | None:
        """Does what `store` does where that takes a few milliseconds at most; else None.

        Then nothing has been done, and the batch is for `store`.
        """

    @property
    def log_is_long(self) -> bool:
        """True when `copy_log` is to be called, on a thread."""

    def copy_log(self) -> None:
        """Keeps the log short; what is stored meanwhile does not wait for it."""
