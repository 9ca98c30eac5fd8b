"""What a run of a batch has to do, as values: rows, what becomes of each, and their keys."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from svc.delivery.evidence import Evidence
from svc.delivery.journal.batches import BatchName, Duplicate
from svc.delivery.journal.entry import Intent, KeyEquivalence
from svc.delivery.policy import (
    KeyRelation,
    RowDecision,
)
from svc.errors import SvcError
from svc.system.spool import Digests

T = TypeVar("T")

EFFECT_OLD_SECONDS: Final = 12 * 3600
DUPLICATE_DAYS: Final = 7
_ORDINALS_MAX: Final = 100_000  # equal rows of one file
_REFUSALS_MAX: Final = 50  # of one row
_EQUAL_MAX: Final = 100  # equal rows whose keys are looked for


class BatchRow(NamedTuple):
    """A row that can be sent.

    Attributes:
        path: what the request is posted to.
        body: the encoded parameters, with names in alphabetical order.
        digest: of its exact parameters (promise R91).
        likeness: of its folded parameters, or of its own id where the file names rows.
        amount: in minor units, where the row has one.
        currency: where the row has one, sent or not.
        given_key: the row's own idempotency key, of the column `idempotency_key`.
        compared_currency: a currency that the row has beside an amount and that the request does
            not send, such as a refund's; the payment or order must have the same.
        row_id: what the file calls the row (`--row-id`).
        alike: its likeness whatever the file calls it: finds duplicates outside the batch.
        subject: what it is about: the payment of a refund, the order of a capture, the account
            number of a payout; empty for other operations.
    """

    number: int
    line: int
    path: str
    body: bytes
    digest: str
    likeness: str
    amount: int | None
    currency: str | None
    given_key: str | None = None
    compared_currency: str | None = None
    row_id: str | None = None
    alike: str = ""
    subject: str = ""


class Bad(NamedTuple):
    """A row that is not sent, and why."""

    number: int
    line: int
    message: str
    param: str | None
    code: str


class Task(NamedTuple):
    """A row that is to be sent.

    Attributes:
        intent: the journal's record of its request, which may have been carried out.
        sent_at: when it was sent first, where an earlier sending may have been carried out.
        failed: what its last request made, which must have failed for it to be sent.
    """

    row: BatchRow
    key: str
    intent: Intent | None
    sent_at: float | None = None
    failed: str | None = None


class Passed(NamedTuple):
    """A row that is not sent: it is done, or it is in doubt.

    Attributes:
        before: the done row that it seems to be, changed.
    """

    row: BatchRow
    evidence: Evidence | None
    decision: RowDecision
    duplicate: Duplicate | None = None
    before: Evidence | None = None


class FileRows(Protocol):
    """The rows of a file in its order; a million of them need not lie in memory."""

    def __iter__(self) -> Iterator[BatchRow | Bad]: ...
    def __getitem__(self, index: int, /) -> BatchRow | Bad: ...


class Picked(Generic[T]):
    """Something for each of some rows of a file, made when it is looked at, in the file's order."""

    def __init__(self, rows: FileRows, build: Callable[[int], T]) -> None:
        self._rows = rows
        self._build = build
        self._places = array("L")

    def add(self, place: int) -> None:
        """Takes the row at a place of the file, behind those taken before."""
        self._places.append(place)

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[T]:
        return map(self._build, self._places)

    def __getitem__(self, index: int) -> T:
        return self._build(self._places[index])

    def rows(self) -> Iterator[BatchRow]:
        """Yields the rows alone, but for bad ones."""
        rows = (self._rows[place] for place in self._places)
        return (row for row in rows if isinstance(row, BatchRow))


class StopReason(NamedTuple):
    """Why nothing is sent at all."""

    decision: RowDecision
    rows: Picked[Passed]


class Permissions(NamedTuple):
    """What a person has said with options; see `RowState`."""

    may_continue: bool = False
    may_skip_done: bool = False
    may_retry_failed: bool = False
    may_send_edited: bool = False
    may_repeat: bool = False


class BatchTimes(NamedTuple):
    """The clocks that ages are measured with (unix seconds).

    Attributes:
        now: of this machine.
        served: of the service: a sandbox's own clock; None of any other.
        dated: the service's `Date`, where it was asked.
        begun: when this batch and label was begun.
    """

    now: float
    served: float | None = None
    dated: float | None = None
    begun: float | None = None


@dataclass(slots=True)
class BatchPlan:
    """The rows of a file by what becomes of them, each in the order of the file.

    Attributes:
        orphans: requests whose outcome is not known and which no row of the file is like.
        gone: done rows that are no longer in the file.
        adopted: requests of single commands that count as rows from now on.
        noted: rows that another batch or label has done more than seven days ago.
        stop: why nothing may be sent.
        newest: seconds since the newest effect of the batch and label.
        keys: gives the key behind one that is used up.
        digests: of all rows, by what they ask for.
    """

    tasks: Picked[Task]
    done: Picked[Passed]
    held: Picked[Passed]
    bad: Picked[Bad]
    adopted: Picked[Passed]
    noted: Picked[Passed]
    keys: "KeyWalk"
    digests: Digests
    orphans: list[Evidence] = field(default_factory=list)
    gone: list[Evidence] = field(default_factory=list)
    stop: StopReason | None = None
    newest: float | None = None

    @property
    def rows(self) -> int:
        return len(self.tasks) + len(self.done) + len(self.held) + len(self.bad)

    @property
    def is_begun(self) -> bool:
        """Whether a row of the file was, or may have been, carried out in this batch and label."""
        return bool(self.done or self.held or any(task.sent_at is not None for task in self.tasks))


class BatchFacts(NamedTuple):
    """All that a plan stands on.

    Attributes:
        evidence: of the batch and label.
        duplicates: requests outside of it that are like a row.
        doubles: whether the operation does the same thing twice.
        unseen: whether evidence of which no journal tells is shown to be of the account in use.
        world: the state of a sandbox; None of any other service.
        expired: why requests must not be sent again, by the clock of a sandbox (promise R4).
    """

    batch: BatchName
    evidence: Sequence[Evidence]
    duplicates: Sequence[Duplicate]
    account: KeyEquivalence
    own_key: str
    times: BatchTimes
    permissions: Permissions
    doubles: bool
    unseen: KeyRelation = KeyRelation.NOT_KNOWN
    world: str | None = None
    expired: Mapping[str, SvcError] = MappingProxyType({})


class KeyWalk:
    """Gives rows their keys, none to two rows; every machine walks through the same ones.

    `known` are keys that requests have had, `likenesses` those of all rows: of a row that is like
    no other one nothing need be remembered.
    """

    def __init__(self, batch: BatchName, known: Iterable[str], likenesses: Digests) -> None:
        self._batch = batch
        self._used = set(known)
        self._likenesses = likenesses
        self._ordinals: Counter[str] = Counter()

    def key_of(self, row: BatchRow, ordinal: int) -> str:
        """The key of a row that was given its ordinal among equal ones."""
        return self._batch.key_of(row.likeness, ordinal)

    def first(self, row: BatchRow) -> int:
        """The first ordinal among equal rows whose key no request has had."""
        is_alone = not self._likenesses.repeats(row.likeness)
        if is_alone and not self._used:
            return 0
        for ordinal in range(self._ordinals[row.likeness], _ORDINALS_MAX):
            key = self.key_of(row, ordinal) if self._used else ""
            if key not in self._used:
                if not is_alone:
                    self._ordinals[row.likeness] = ordinal + 1
                return ordinal
        raise AssertionError(row)

    def after(self, row: BatchRow, key: str) -> str:
        """The key behind one that the service has used up: the next ordinal of refusals."""
        ordinal, refusals = self._place_of(row.likeness, key)
        for number in range(refusals + 1, refusals + _ORDINALS_MAX):
            found = self._batch.key_of(row.likeness, ordinal, number)
            if found not in self._used:
                self._used.add(found)
                return found
        raise AssertionError(row)

    def _place_of(self, identity: str, key: str) -> tuple[int, int]:
        """Where a key stands in the walk; one of an older form stands before the first."""
        for refusals in range(_REFUSALS_MAX):
            for ordinal in range(self._ordinals[identity] + _EQUAL_MAX):
                if self._batch.key_of(identity, ordinal, refusals) == key:
                    return ordinal, refusals
        return 0, 0
