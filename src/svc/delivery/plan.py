"""The values of a batch's plan: its rows, the decision about each, and their idempotency keys.

`batch.validate` makes `BatchRow`s, `cli.batch.facts` collects `BatchFacts`, `planner` makes the
`BatchPlan` of both, and `batch.run` sends its tasks.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

from svc.client.call import Encoding
from svc.delivery.evidence import Evidence, age_of
from svc.delivery.gathering import EvidenceList, Selection
from svc.delivery.journal.batches import DUPLICATE_SECONDS, BatchName, Duplicate
from svc.delivery.journal.entry import Intent, KeyEquivalence
from svc.delivery.policy import KeyRelation, RowDecision
from svc.system.spool import Digests

T = TypeVar("T")

EFFECT_OLD_SECONDS: Final = 12 * 3600
CLOCKS_DIFFER_SECONDS: Final = 600  # of two machines; what is dated later than that has no age
_ORDINALS_MAX: Final = 100_000  # equal rows of one file
_REFUSALS_MAX: Final = 50  # of one row
_EQUAL_MAX: Final = 100  # further equal rows whose keys are looked for


class BatchRow(NamedTuple):
    """A valid row, as a request.

    Attributes:
        path: the path of the POST.
        body: the encoded parameters, with names in alphabetical order.
        digest: the digest of its exact parameters (promise R91).
        likeness: identifies the row within its batch: the digest of its own id if it has one, else
            of its normalised parameters.
        amount: in minor units, or None.
        currency: the currency column, even if it is not sent.
        given_key: the row's own idempotency key, from the column `idempotency_key`.
        compared_currency: a currency column that is not sent, such as that of a refund; the payment
            or order must have the same currency.
        row_id: the row's own id (`--row-id`).
        alike: the digest of its normalised parameters, which finds duplicates outside the batch.
        subject: the payment of a refund, the order of a capture, the account number of a payout;
            empty for other operations.
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


class InvalidRow(NamedTuple):
    """An invalid row, which is not sent, and the reason."""

    number: int
    line: int
    message: str
    param: str | None
    code: str


class Task(NamedTuple):
    """A row that is to be sent.

    Attributes:
        intent: the journal's record of its request, which may have been carried out.
        sent_at: when it was sent first, if an earlier sending may have been carried out.
        failed: the id of the object of its last request; the row is sent only if it has failed.
    """

    row: BatchRow
    key: str
    intent: Intent | None
    sent_at: float | None = None
    failed: str | None = None


class UnsentRow(NamedTuple):
    """A valid row that is not sent: it is done, or a decision holds it back.

    Attributes:
        before: the done row of which it seems to be an edited version.
    """

    row: BatchRow
    evidence: Evidence | None
    decision: RowDecision
    duplicate: Duplicate | None = None
    before: Evidence | None = None


class RowSelection(Selection[T]):
    """An item for each selected row of a file, in the order of the file.

    The file's rows may be read from disk: a file can have a million rows.
    """

    def __init__(self, rows: Sequence[BatchRow | InvalidRow], build: Callable[[int], T]) -> None:
        super().__init__(build)
        self._rows = rows

    def rows(self) -> Iterator[BatchRow]:
        """Yields the selected rows that are valid."""
        rows = (self._rows[place] for place in self.numbers)
        return (row for row in rows if isinstance(row, BatchRow))


class StopReason(NamedTuple):
    """The decision that stops the whole batch, and the rows for which it was made."""

    decision: RowDecision
    rows: RowSelection[UnsentRow]


class Permissions(NamedTuple):
    """The options that allow an exception from a rule; see `RowState`."""

    may_continue: bool = False
    may_skip_done: bool = False
    may_retry_failed: bool = False
    may_send_edited: bool = False
    may_repeat: bool = False


class BatchTimes(NamedTuple):
    """The times by which ages are measured (Unix seconds).

    Attributes:
        now: the time of this machine.
        served: the time of a sandbox's clock; None for any other service.
        dated: the service's `Date`, if it was read.
        begun: when the batch with this label was begun.
    """

    now: float
    served: float | None = None
    dated: float | None = None
    begun: float | None = None


@dataclass(slots=True)
class BatchPlan:
    """The rows of a file by decision, each group in the order of the file.

    Attributes:
        held: rows that are not sent before a person has decided, such as after a failure.
        orphans: unresolved requests of the batch that match no row of the file.
        gone: done rows that are no longer in the file.
        adopted: rows done by single commands, which become requests of the batch.
        noted: rows that something outside this batch and label did more than seven days ago.
        stop: why no row may be sent, or None.
        newest: seconds since the newest effect of the batch with this label.
        keys: computes the next key after one that is used up.
        digests: the digests of all rows by their parameters.
    """

    tasks: RowSelection[Task]
    done: RowSelection[UnsentRow]
    held: RowSelection[UnsentRow]
    bad: RowSelection[InvalidRow]
    adopted: RowSelection[UnsentRow]
    noted: RowSelection[UnsentRow]
    keys: "RowKeys"
    digests: Digests
    orphans: list[Evidence] = field(default_factory=list)
    gone: Selection[Evidence] | tuple[()] = ()
    stop: StopReason | None = None
    newest: float | None = None

    @property
    def rows(self) -> int:
        return len(self.tasks) + len(self.done) + len(self.held) + len(self.bad)

    @property
    def is_begun(self) -> bool:
        """Whether a row may have been carried out already in the batch with this label."""
        return bool(self.done or self.held or any(task.sent_at is not None for task in self.tasks))


class BatchFacts(NamedTuple):
    """The facts from which a plan is made.

    Attributes:
        evidence: the outcomes of the requests of the batch with this label.
        duplicates: requests outside the batch that are duplicates of a row.
        doubles: whether the operation has its effect again if it is sent twice.
        unseen: whether requests that only a results file has are of the account in use.
        world: identifies the state of a sandbox; None for any other service.
        moved: what other batches have, or may have, moved of late, with the effect of a row.
        encoding: of the bodies of rows.
        updates: what has, or may have, updated the objects of rows with other values, by path.
    """

    batch: BatchName
    evidence: EvidenceList
    duplicates: Sequence[Duplicate]
    account: KeyEquivalence
    own_key: str
    times: BatchTimes
    permissions: Permissions
    doubles: bool
    unseen: KeyRelation = KeyRelation.NOT_KNOWN
    world: str | None = None
    moved: Sequence[Duplicate] = ()
    encoding: Encoding = "json"
    updates: Mapping[str, Sequence[Duplicate]] = MappingProxyType({})

    def may_be_here(self, one: Duplicate) -> bool:
        """Whether a request may be of this account, and of the sandbox's present state."""
        is_gone = None not in (self.world, one.world) and one.world != self.world
        return one.key_fingerprint not in self.account.other and not is_gone

    def is_old(self, one: Duplicate) -> bool:
        """Whether a request counts as another occasion: it was done more than seven days ago.

        A single command has to be so much older than the beginning of the batch: its row was left
        out then, and is no other one a month later.
        """
        settled, times = one.settled_at or 0.0, self.times
        since = None if times.begun is None else times.begun - DUPLICATE_SECONDS
        if one.batch is None and since is not None and settled >= since:
            return False
        age = age_of(settled, one.server_time, times.now, times.served)
        return age > DUPLICATE_SECONDS


class KeyPlaces(NamedTuple):
    """The keys of equal rows that were computed so far.

    Attributes:
        requests: how many earlier requests are like the rows.
        places: the ordinal and the number of refusals of each key.
        reached: the next ordinal, for each number of refusals.
    """

    requests: int
    places: dict[str, tuple[int, int]]
    reached: list[int]


class RowKeys:
    """Computes the idempotency keys of rows: no key twice, and the same keys on every machine.

    `evidence` has the keys of earlier requests. `digests` are those of the parameters of all rows,
    `named` the likenesses of rows with ids of their own: for a row without an equal one no state
    has to be remembered.
    """

    def __init__(
        self, batch: BatchName, evidence: EvidenceList, digests: Digests, named: Digests
    ) -> None:
        self._batch = batch
        self._evidence = evidence
        self._used: set[str] = set()  # of this plan
        self._digests = digests
        self._named = named
        self._ordinals: Counter[str] = Counter()
        self._tried: dict[tuple[str, int, int], int] = {}  # refusals whose keys are used, by place
        self._key_places: dict[str, KeyPlaces] = {}  # of equal rows, by likeness

    def key_of(self, row: BatchRow, ordinal: int) -> str:
        """The key of a row with an ordinal among equal rows."""
        return self._batch.key_of(row.likeness, ordinal)

    def first(self, row: BatchRow) -> int:
        """The first ordinal whose key no earlier request has used."""
        is_alone = self._is_alone(row)
        if is_alone and not self._evidence:
            return 0
        for ordinal in range(self._ordinals[row.likeness], _ORDINALS_MAX):
            if not self._evidence or not self._is_used(self.key_of(row, ordinal)):
                if not is_alone:
                    self._ordinals[row.likeness] = ordinal + 1
                return ordinal
        raise AssertionError(row)

    def after(self, row: BatchRow, key: str) -> str:
        """The next key of a row after one that is used up: the next number of refusals."""
        ordinal, refusals = self._place_of(row, key)
        begin = row.likeness, ordinal, refusals
        for number in range(self._tried.get(begin, refusals) + 1, refusals + _ORDINALS_MAX):
            found = self._batch.key_of(row.likeness, ordinal, number)
            if not self._is_used(found):
                self._used.add(found)
                return found
            self._tried[begin] = number
        raise AssertionError(row)

    def _is_alone(self, row: BatchRow) -> bool:
        likenesses = self._digests if row.likeness == row.alike else self._named
        return not likenesses.repeats(row.likeness)

    def _is_used(self, key: str) -> bool:
        return key in self._used or bool(self._evidence.find_key(key))

    def _place_of(self, row: BatchRow, key: str) -> tuple[int, int]:
        """The ordinal and number of refusals of a key; a key of an older version is before all."""
        likeness = row.likeness
        known = self._key_places.get(likeness)
        if known is None:
            known = KeyPlaces(len(self._evidence.find_like(likeness)), {}, [0] * _REFUSALS_MAX)
            if not self._is_alone(row):
                self._key_places[likeness] = known
        end = self._ordinals[likeness] + known.requests + _EQUAL_MAX
        for refusals, begin in enumerate(known.reached):
            for ordinal in range(begin, end):
                if key in known.places:
                    break
                known.places[self._batch.key_of(likeness, ordinal, refusals)] = ordinal, refusals
                known.reached[refusals] = ordinal + 1
        return known.places.get(key, (0, 0))
