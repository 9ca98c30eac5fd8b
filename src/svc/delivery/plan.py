"""What a run of a batch has to do: each row of the file against all evidence of its batch.

A row takes, of the requests that are like it, first one that was carried out, then one whose
outcome is not known, then one that was not carried out; only after these does it get a new key.
`policy` decides what becomes of it.
"""

from array import array
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from svc.client.retry import KEY_SAFE_SECONDS
from svc.delivery.evidence import EFFECTIVE, Evidence, Known, age_of
from svc.delivery.journal.batches import BatchName, Duplicate
from svc.delivery.journal.entry import Account, Intent
from svc.delivery.likeness import UnreadableBody, about_of, fields_of, is_making, subject_of
from svc.delivery.policy import (
    BATCH_STOPS,
    ROW_STOPS,
    Elsewhere,
    KeyRelation,
    RowDecision,
    RowState,
    decide_row,
)
from svc.errors import SvcError
from svc.system.spool import Digests

T = TypeVar("T")

EFFECT_OLD_SECONDS: Final = 12 * 3600
DUPLICATE_DAYS: Final = 7
_DUPLICATE_SECONDS: Final = DUPLICATE_DAYS * 24 * 3600
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
    body_sha256: str
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
    account: Account
    own_key: str
    times: BatchTimes
    permissions: Permissions
    doubles: bool
    unseen: KeyRelation = KeyRelation.NOT_KNOWN
    world: str | None = None
    expired: Mapping[str, SvcError] = MappingProxyType({})


def plan_batch(rows: FileRows, facts: BatchFacts) -> BatchPlan:
    """Says what becomes of each row of a file; pure, so that it can be asked twice."""
    return _Planner(rows, facts).plan()


class _Planner:
    """Makes one plan: what is found out of a row is kept by its place in the file."""

    def __init__(self, rows: FileRows, facts: BatchFacts) -> None:
        self._rows = rows
        self._facts = facts
        self._shelf = _Shelf(facts.evidence)
        self._others = _Others(facts)
        self._matches: list[Evidence | None] = []
        self._decisions = array("B")
        self._duplicates: dict[int, Duplicate] = {}
        self._before: dict[int, Evidence] = {}
        self._ordinals: dict[int, int] = {}  # of keys that are not the first
        self._walked: dict[int, str] = {}  # keys behind those that are used up
        digests, self._likenesses = Digests(), Digests()
        self._keys = KeyWalk(facts.batch, (one.key for one in facts.evidence), self._likenesses)
        self._plan = BatchPlan(
            tasks=Picked(rows, self._task_at),
            bad=Picked(rows, self._bad_at),
            keys=self._keys,
            digests=digests,
            done=self._pick(),
            held=self._pick(),
            adopted=self._pick(),
            noted=self._pick(),
        )
        self._stops = defaultdict[RowDecision, Picked[Passed]](self._pick)

    def plan(self) -> BatchPlan:
        plan, edits = self._plan, _Edits(doubles=self._facts.doubles)
        for place, row in enumerate(self._rows):
            evidence = None
            if isinstance(row, Bad):
                plan.bad.add(place)
            else:
                evidence = self._shelf.take(row)
                plan.digests.add(row.alike)
                self._likenesses.add(row.likeness)
                edits.see(row, evidence)
            self._matches.append(evidence)
        left = self._shelf.left()
        plan.orphans = [one for one in left if one.known is Known.UNKNOWN]
        plan.gone = [one for one in left if one.known is Known.DONE]
        plan.newest = self._newest_effect()
        edits.compare(plan.gone)
        for place, row in enumerate(self._rows):
            self._decisions.append(0)
            if isinstance(row, BatchRow):
                evidence = self._matches[place]
                before = None if evidence is not None else edits.find_before(row)
                self._place(place, row, evidence, before)
        for decision in BATCH_STOPS:
            if decision in self._stops:
                plan.stop = StopReason(decision, self._stops[decision])
                break
        return plan

    def _pick(self) -> Picked[Passed]:
        return Picked(self._rows, self._passed_at)

    def _passed_at(self, place: int) -> Passed:
        row = self._rows[place]
        assert isinstance(row, BatchRow)
        decision = _DECISIONS[self._decisions[place]]
        return Passed(
            row,
            self._matches[place],
            decision,
            self._duplicates.get(place),
            self._before.get(place),
        )

    def _bad_at(self, place: int) -> Bad:
        row = self._rows[place]
        assert isinstance(row, Bad)
        return row

    def _task_at(self, place: int) -> Task:
        row, evidence, decision, *_ = self._passed_at(place)
        if evidence is None or decision is RowDecision.SEND:
            ordinal = self._ordinals.get(place, 0)
            return Task(row, row.given_key or self._keys.key_of(row, ordinal), None)
        if decision is RowDecision.RETRY_FAILED:
            return Task(row, self._walked[place], None, failed=evidence.object_id)
        if evidence.known is Known.UNKNOWN:  # as it was sent, whatever the row says now
            return Task(row, evidence.key, evidence.intent, evidence.at)
        return Task(row, evidence.key, None)

    def _newest_effect(self) -> float | None:
        """Seconds since the newest effect of the batch and label; None where there is none."""
        times = self._facts.times
        ages = [
            age_of(one.at, one.served_at, times.now, times.served)
            for one in self._facts.evidence
            if one.known in (Known.DONE, Known.CONTRADICTED)
        ]
        return min(ages, default=None)

    def _place(
        self, place: int, row: BatchRow, evidence: Evidence | None, before: Evidence | None
    ) -> None:
        known = Known.NOTHING if evidence is None else evidence.known
        is_edited = before is not None or _is_changed(row, evidence)
        elsewhere, duplicate = Elsewhere.NONE, None
        if known not in EFFECTIVE or (is_edited and self._facts.permissions.may_send_edited):
            elsewhere, duplicate = self._others.take(row)
        state = RowState(
            known,
            evidence is not None and self._is_key_old(evidence),
            (self._plan.newest or 0.0) >= EFFECT_OLD_SECONDS,
            KeyRelation.SAME if evidence is None else self._relation(evidence),
            elsewhere,
            is_edited,
            *self._facts.permissions,
        )
        decision = decide_row(state)
        self._decisions[place] = _NUMBERS[decision]
        if duplicate is not None:
            self._duplicates[place] = duplicate
        if before is not None:
            self._before[place] = before
        if decision in BATCH_STOPS:
            self._stops[decision].add(place)
        if elsewhere is Elsewhere.OLD:
            self._plan.noted.add(place)
        self._sort(place, row, evidence, decision)

    def _sort(
        self, place: int, row: BatchRow, evidence: Evidence | None, decision: RowDecision
    ) -> None:
        plan = self._plan
        if decision in ROW_STOPS:
            plan.held.add(place)
        elif decision in (RowDecision.SKIP, RowDecision.STOP_OLD):
            plan.done.add(place)
        elif decision is RowDecision.ADOPT:
            plan.adopted.add(place)
            plan.done.add(place)
        else:
            plan.tasks.add(place)
            if evidence is None or decision is RowDecision.SEND:
                if not row.given_key and (ordinal := self._keys.first(row)):
                    self._ordinals[place] = ordinal
            elif decision is RowDecision.RETRY_FAILED:
                self._walked[place] = self._keys.after(row, evidence.key)

    def _is_key_old(self, evidence: Evidence) -> bool:
        times, intent = self._facts.times, evidence.intent
        if evidence.request in self._facts.expired:
            return True
        ages = [age_of(evidence.at, evidence.served_at, times.now, times.served)]
        dated = intent.settled.dated_at if intent and intent.settled else None
        if dated is not None and times.dated is not None:
            ages.append(times.dated - dated)
        return max(ages) >= KEY_SAFE_SECONDS or times.now < evidence.at - 10.0

    def _relation(self, evidence: Evidence) -> KeyRelation:
        seen, is_file = self._facts.unseen, evidence.intent is None
        if is_file and evidence.known is not Known.UNKNOWN and seen is not KeyRelation.NOT_KNOWN:
            return seen
        hint = evidence.key_hint
        if hint and (hint == self._facts.own_key or hint in self._facts.account.same):
            return KeyRelation.SAME
        if hint in self._facts.account.other:
            return KeyRelation.OTHER
        return seen if is_file else KeyRelation.NOT_KNOWN


_EMPTY: Final[deque[Evidence]] = deque()
_DECISIONS: Final = tuple(RowDecision)
_NUMBERS: Final = {decision: number for number, decision in enumerate(_DECISIONS)}


class _Shelf:
    """The evidence of a batch, by likeness and by key."""

    def __init__(self, evidence: Sequence[Evidence]) -> None:
        self._by: dict[str, deque[Evidence]] = {}
        self._by_key = {one.key: one for one in evidence}
        self._taken: set[str] = set()
        for one in sorted(evidence, key=_order):
            self._by.setdefault(one.likeness, deque()).append(one)

    def take(self, row: BatchRow) -> Evidence | None:
        own = self._by_key.get(row.given_key) if row.given_key else None
        if own is not None and own.key not in self._taken:
            self._taken.add(own.key)
            return own
        # What was kept before likenesses were, and has no body any more, is known by its digest.
        for same in (row.likeness, row.alike, row.digest):
            shelf = self._by.get(same, _EMPTY)
            while shelf:
                found = shelf.popleft()
                # A key of the row's own says that it is another request than what came to nothing.
                is_other = row.given_key is not None and found.known <= Known.KEY_TAKEN
                if found.key not in self._taken and not is_other:
                    self._taken.add(found.key)
                    return found
        return None

    def left(self) -> list[Evidence]:
        return [one for one in self._by_key.values() if one.key not in self._taken]


def _order(one: Evidence) -> tuple[int, int, int, int]:
    """What was carried out comes first, then what is unknown; of each kind the newest.

    Results files tell whole seconds. Within one, equal rows keep their order, and of the requests
    of one row the journal's numbers say which is newer.
    """
    seq = 0 if one.intent is None else one.intent.seq
    return -max(one.known, Known.REFUSED), -int(one.at), one.row or 0, -seq


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


class _Others:
    """Like requests outside the batch; each counts for one row."""

    def __init__(self, facts: BatchFacts) -> None:
        self._facts = facts
        self._by: dict[str, list[Duplicate]] = {}
        for one in facts.duplicates:
            is_gone = None not in (facts.world, one.world) and one.world != facts.world
            if one.key_hint not in facts.account.other and not is_gone:
                self._by.setdefault(one.likeness, []).append(one)

    def take(self, row: BatchRow) -> tuple[Elsewhere, Duplicate | None]:
        """Finds what is known of a like request elsewhere, the worst of it first."""
        found = self._by.get(row.alike or row.likeness, [])
        for kind in (
            Elsewhere.RUNNING,
            Elsewhere.UNRESOLVED,
            Elsewhere.BY_HAND,
            Elsewhere.RECENT,
            Elsewhere.OLD,
        ):
            for one in found:
                if self._kind(one) is kind:
                    if kind is Elsewhere.BY_HAND:
                        found.remove(one)  # it uses up one row
                    return kind, one
        return Elsewhere.NONE, None

    def _kind(self, one: Duplicate) -> Elsewhere:
        if not one.done:
            return Elsewhere.RUNNING if one.request is None else Elsewhere.UNRESOLVED
        if not self._facts.doubles:
            return Elsewhere.NONE
        settled, times = one.settled_at or 0.0, self._facts.times
        age = age_of(settled, one.served_at, times.now, times.served)
        is_old = age > _DUPLICATE_SECONDS
        if one.batch is not None:
            return Elsewhere.OLD if is_old else Elsewhere.RECENT
        if times.begun is not None and settled >= times.begun:
            return Elsewhere.BY_HAND  # while the batch was under way
        if self._facts.batch.label:
            return Elsewhere.NONE  # the label says that it is another occasion
        return Elsewhere.OLD if is_old else Elsewhere.BY_HAND


def _is_changed(row: BatchRow, evidence: Evidence | None) -> bool:
    """Whether a row that the file names was sent with other parameters than it has now."""
    if row.row_id is None or evidence is None or evidence.known not in EFFECTIVE:
        return False
    return evidence.alike not in ("", row.alike)


class _Edits:
    """Finds new rows that seem to be done rows which were changed (promise R115).

    Such a row is about the same thing as a done row that is no longer in the file. What is about
    nothing that is named, as an order, stands in a gone row's place while others keep theirs.
    """

    def __init__(self, *, doubles: bool) -> None:
        self._doubles = doubles
        self._stay = self._moved = False  # whether any done row is in its place, and out of it
        self._by_place: dict[int | None, Evidence] = {}
        self._by_subject: dict[str, Evidence] = {}

    def see(self, row: BatchRow, evidence: Evidence | None) -> None:
        """Notes whether a done row still stands where it stood."""
        if evidence is not None and evidence.known is Known.DONE:
            self._stay |= evidence.row == row.number
            self._moved |= evidence.row != row.number

    def compare(self, gone: Sequence[Evidence]) -> None:
        """Takes the done rows that are no longer in the file, once all rows were seen."""
        keep_places = self._stay and not self._moved
        self._by_place = {one.row: one for one in gone} if self._doubles and keep_places else {}
        self._by_subject = {_subject_of(one): one for one in gone}

    def find_before(self, row: BatchRow) -> Evidence | None:
        """The done row that a new one seems to have been."""
        if row.subject:
            return self._by_subject.get(about_of(row.subject)) if self._by_subject else None
        return self._by_place.get(row.number) if self._by_place and is_making(row.path) else None


def _subject_of(one: Evidence) -> str:
    """What a request was about; of one whose body was let go of, nothing."""
    if one.intent is None:
        return (one.line.about or "") if one.line is not None else ""
    kept = one.intent.stored
    try:
        return about_of(subject_of(kept.path, fields_of(kept.encoding, kept.body)))
    except UnreadableBody:
        return ""
