"""The interfaces of a listener: `Source`, which gives deliveries, and `Inbox`, which keeps them.

The receiving half (`ingest`) verifies a delivery, stores it as an `InboundEvent` and answers. The
forwarding half (`forward`) reads what is open at each target, sends it, and stores attempts.
`sqlite` implements `Inbox` in the state database, `svc.listen.log` both in a team's log (R50). The
receiving half also hands each new event over, which saves reading it back.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from svc.errors import LocalError
from svc.listen.values import value_class
from svc.listen.verify.verify import Delivery

# What ends an event before it is forwarded: no target wants it, or it is of the other mode.
DeliveryOutcome = Literal["unrouted", "withheld"]

# How an attempt leaves an event at its target. `unsent`: the request was not sent, and the event
# waits as before; `cut`: a stop of the listener cut it off; `returned`: another process that shares
# a queue with this listener is to have it.
ForwardVerdict = Literal["done", "later", "failed", "returned", "unsent", "cut"]


@dataclass(frozen=True, slots=True)
class Position:
    """The place of an event in a log: its number there, from 1, and its id.

    `after` is the number of the event that was read before it, None where reading has begun anew.
    """

    seq: int
    event_id: str
    after: int | None = None


@value_class
class InboundEvent:
    """A verified delivery to keep; `outcome` is set when nothing is to be forwarded.

    `position` is where a log has it; `redelivered` counts how often it was handed out before.
    `targets` are the addresses that are to get it; with `ordered` each of them gets it after what
    came before it of the same object.
    """

    delivery: Delivery
    outcome: DeliveryOutcome | None
    position: Position | None = None
    redelivered: int = 0
    targets: tuple[str, ...] = ()
    ordered: bool = False


@value_class
class StoreResult:
    """What became of an inbound event: its number in the inbox, and whether it is forwarded.

    `duplicate`: it was there before and is not to be forwarded. `again`: it was there before and
    is to be forwarded again. `open`: its forwards have not all ended yet. `waits` are the targets
    that have an older event of its object open.
    """

    seq: int
    duplicate: bool
    again: bool
    open: bool
    waits: tuple[str, ...] = ()


@value_class
class ForwardAttempt:
    """One forward that was tried; `reply` is the beginning of the answer's body.

    `sent` counts the requests that may have arrived. `next_at` (unix seconds) is when an event with
    the verdict `later` is due. `ailing`: no event had succeeded at its target since the attempt
    before, so that this one is due as soon as any does.
    """

    seq: int
    type: str
    target: str
    number: int
    started_at: float
    milliseconds: float
    status: int | None
    error: str | None
    reply: bytes
    verdict: ForwardVerdict
    sent: int = 1
    next_at: float = 0.0
    ailing: bool = False


@value_class
class OpenItem:
    """An event that a target is still to get, as it was kept.

    `attempts` of this target have ended, the last one at `last_at` (unix seconds); `redelivered`
    counts how often the event may have been delivered.
    """

    seq: int
    event_id: str
    type: str
    object_id: str
    headers: bytes
    body: bytes
    attempts: int = 0
    last_at: float = 0.0
    redelivered: int = 0

    @property
    def attempt(self) -> int:
        """The number of the next attempt, from 1."""
        return self.attempts + 1


@dataclass(frozen=True, slots=True)
class Retries:
    """The events that are due again at a target; `soonest` (unix seconds): when the next one is."""

    items: list[OpenItem]
    soonest: float | None


@value_class
class EndedEvent:
    """An event whose forwards have ended at all targets; `taken` by all of them, or `returned`."""

    seq: int
    type: str
    taken: bool
    returned: bool = False


@dataclass(frozen=True, slots=True)
class TargetRest:
    """A target is left alone `since` a moment (unix seconds); `why` is None once it no longer is.

    No event after the seq `last` is under way there before more are read; None: as before.
    """

    target: str
    since: float
    why: str | None
    last: int | None = None


@dataclass(slots=True)
class Batch:
    """What goes into the inbox in one transaction: inbound events, and results of forwards.

    `well` are targets that succeed again, so that their ailing events are due now; `closing` are
    targets whose run ends. The inbox fills the rest as it stores: `ended` has the events that have
    ended, `freed` the targets where an event has got its turn, `hastening` those targets of `well`
    that have more ailing events than one transaction changes.
    """

    inbound_events: list[InboundEvent] = field(default_factory=list)
    attempts: list[ForwardAttempt] = field(default_factory=list)
    well: list[str] = field(default_factory=list)
    rests: list[TargetRest] = field(default_factory=list)
    closing: list[str] = field(default_factory=list)
    ended: list[EndedEvent] = field(default_factory=list)
    freed: set[str] = field(default_factory=set)
    hastening: list[str] = field(default_factory=list)

    @property
    def has_results(self) -> bool:
        """True when it says how forwards went."""
        return bool(self.attempts or self.well or self.rests or self.closing)

    def take_results(self) -> "Batch":
        """Removes the results from this batch and returns them as another one."""
        taken = Batch([], self.attempts, self.well, self.rests, self.closing)
        self.attempts, self.well, self.rests, self.closing = [], [], [], []
        return taken

    def put_back(self, other: "Batch") -> None:
        """Adds the results of another batch before its own."""
        self.attempts[:0] = other.attempts
        self.well[:0] = other.well
        self.rests[:0] = other.rests
        self.closing[:0] = other.closing


class Oversized(LocalError):  # noqa: N818  it says what is the matter
    """An inbound event is larger than what an inbox takes, and always will be."""


Answer = Callable[[int], None]


class Source(Protocol):
    """Where deliveries come from: the receiver, or a team's log; used inside one event loop, once.

    An implementation must give each delivery again that the listener has not accepted, in this run
    or in the next one.
    """

    @property
    def died(self) -> "asyncio.Future[None] | None":
        """Done, with an error, when no more deliveries will come; None for a source without it."""

    async def start(self) -> None:
        """Begins to give deliveries."""

    async def stop_accepting(self) -> None:
        """Accepts no new deliveries from outside; those under way go on."""

    async def close(self) -> None:
        """Releases everything; earlier answers still count."""


class Inbox(Protocol):
    """What both halves need of an inbox. All calls block and raise LocalError.

    What an implementation owes: `store` returns when the whole batch would survive a crash, and
    none of it is visible if it raises (an inbox that several share may show a part of what raised:
    the sender comes again, and ids count it once); within one scope an event (its id and its body:
    a sandbox that was reset gives ids anew) gets one seq for ever (for 72 h or more); seqs grow in
    the order of storing; an event is open at each of its targets from its storing until an attempt
    there is stored as done, failed or returned; what is open is never forgotten, and what failed is
    not forgotten by its age. An inbox that nothing is forwarded from has nothing open. Calls come
    from one thread at a time, not always the same one.
    """

    def store(self, batch: Batch) -> list[StoreResult | LocalError]:
        """Commits a batch durably; returns one result for each inbound event, in order.

        The results of attempts are noted before the events are looked at. An event that cannot
        be stored, while others can, has an error in its place.
        """

    def begin(self, targets: Sequence[str], *, ordered: bool, anew: bool) -> None:
        """Begins a run with these targets; what a run that was killed had open counts as cut.

        With `anew` all that waits for a later attempt is due at once.
        """

    def leave(self, target: str) -> list[OpenItem]:
        """Leaves open events of a target for a later run, a part at a time; empty when done."""

    def due(self, target: str, after: int, most: int) -> list[OpenItem]:
        """Returns the next items behind the seq `after` that were not tried, oldest first.

        From now on these events may be under way, like those that `again` returns; if there are
        none, any event may be.
        """

    def again(self, target: str, now: float, most: int) -> Retries:
        """Returns events whose next attempt is due at `now` (unix seconds), soonest first."""

    def count(self, targets: Sequence[str]) -> int:
        """Counts the events that are open at any of these targets and were not left alone."""

    def count_failed(self, seqs: Collection[int]) -> int:
        """Counts those of these events that a target has not taken, for good."""

    def prune(self, now: float, after: int) -> int | None:
        """Deletes some of the events that were forwarded 30 days before `now` (unix seconds).

        Failed and open events stay. Looks at some events behind the seq `after`; returns the last
        of these, None if no other old ones follow.
        """


@runtime_checkable
class InPlace(Protocol):
    """An inbox in a file, which may be deleted or replaced while it is open."""

    def check_in_place(self) -> None:
        """Raises LocalError where the file was deleted or replaced: what is stored is lost then."""

    def save_copy(self, seconds: float) -> str | None:
        """Saves what the open file holds beside its place; gives where, None if it cannot."""


@runtime_checkable
class AtOnce(Protocol):
    """An inbox that can store a small group in the event loop, without a thread."""

    def store_at_once(self, batch: Batch) -> list[StoreResult | LocalError] | None:
        """Does what `store` does where that takes a few milliseconds at most; else None.

        Then nothing has been done, and the batch is for `store`.
        """

    @property
    def log_is_long(self) -> bool:
        """True when `copy_log` is to be called, on a thread."""

    def copy_log(self) -> None:
        """Keeps the log short; events that are stored meanwhile do not wait for it."""
