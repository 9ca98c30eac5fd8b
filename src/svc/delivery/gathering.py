"""Gathers the evidence of a batch: which requests earlier runs have sent, and how each ended.

`svc batch` (`cli.batch.facts`) adds the requests of the journal to a `Gathering`, which joins them
with the lines of the results file and returns an `EvidenceList`. From it `planner` decides which
rows are still to be sent.

A large list is in a temporary file, with an index in memory of 60 bytes a request. The index finds
the numbers of entries, from 0, by idempotency key or by likeness (`likeness`: the digest of the
normalised parameters, or of the row's id); an entry is read only where more of it is needed.
"""

from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar, overload

from svc.delivery.evidence import (
    Evidence,
    Known,
    age_of,
    build_intent_evidence,
    merge_evidence,
)
from svc.delivery.journal.entry import Intent, Settled, Stored, scope_of
from svc.delivery.likeness import row_likeness
from svc.system.spool import DigestIndex, Spool

T = TypeVar("T")

_GROUP: Final = 16  # entries that are read at once: rows of a file may be in any order
_KNOWN: Final = tuple(Known)
_ROW_MAX: Final = 2**31 - 1
# Of a request that was carried out the body tells its subject alone, and in these paths only.
_TELL_SUBJECT: Final = ("/refunds", "/payouts")


class EvidenceSource(NamedTuple):
    """Where the evidence of a request is from, and its API key; most of a batch have the same.

    It decides whether the request is of the account in use.

    Attributes:
        is_recorded: whether the journal has the request, rather than a results file alone.
    """

    is_recorded: bool
    key_fingerprint: str


class EvidenceList(Sequence[Evidence]):
    """Evidence in the order in which it was found; it may be read in any order."""

    def __init__(self, evidence: Iterable[Evidence] = ()) -> None:
        self._entries = Spool(build_evidence, _GROUP)
        self._likenesses, self._keys = DigestIndex(), DigestIndex()
        self._known = bytearray()
        self._rows = array("i")  # -1 where it is not known
        self._sources: dict[EvidenceSource, int] = {}
        self._source_of = array("I")
        self._equal: dict[int, list[int]] = {}  # of one idempotency key, by each of the numbers
        self._newest: dict[int, float] = {}  # the latest time of each outcome
        # Of requests to a sandbox, by outcome: times by both clocks; none is later in both.
        self._dated = defaultdict[int, list[tuple[float, float]]](list)
        for one in evidence:
            self.append(one)

    def append(self, one: Evidence) -> None:
        """Adds the evidence of a request."""
        number = len(self._known)
        equal = self._keys.find_last(_mark_key(one.key))
        if equal is not None:
            group = self._equal.setdefault(equal, [equal])
            group.append(number)
            self._equal[number] = group
        if one.server_time is None:
            self._newest[one.known] = max(one.at, self._newest.get(one.known, one.at))
        else:
            _keep_latest(self._dated[one.known], (one.at, one.server_time))
        row = one.row if one.row is not None and 0 <= one.row <= _ROW_MAX else -1
        source = EvidenceSource(one.intent is not None, one.key_fingerprint)
        self._likenesses.add(one.likeness, number)
        self._keys.add(_mark_key(one.key), number)
        self._known.append(one.known)
        self._rows.append(row)
        self._source_of.append(self._sources.setdefault(source, len(self._sources)))
        self._entries.append(flatten_evidence(one))

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Iterator[Evidence]:
        return iter(self._entries)

    @overload
    def __getitem__(self, number: int, /) -> Evidence: ...
    @overload
    def __getitem__(self, number: slice, /) -> Sequence[Evidence]: ...
    def __getitem__(self, number: int | slice, /) -> Evidence | Sequence[Evidence]:
        if isinstance(number, slice):
            return [self._entries[one] for one in range(*number.indices(len(self)))]
        return self._entries[number]

    def find_like(self, likeness: str) -> list[int]:
        """The numbers of all requests of a likeness."""
        return self._likenesses.find(likeness)

    def find_key(self, key: str) -> list[int]:
        """The numbers of all requests with an idempotency key, which two profiles may both use."""
        return self._keys.find(_mark_key(key))

    def find_equal(self, number: int) -> Sequence[int]:
        """The numbers of all requests with the idempotency key of the request of a number."""
        return self._equal.get(number) or (number,)

    def get_known(self, number: int) -> Known:
        """The outcome of a request."""
        return _KNOWN[self._known[number]]

    def get_row(self, number: int) -> int:
        """The number of the row that a request was of, or -1."""
        return self._rows[number]

    def list_sources(self, among: Iterable[Known] = _KNOWN) -> list[EvidenceSource]:
        """Lists where requests with some outcomes come from, each source once."""
        wanted = frozenset(map(int, among))
        pairs = set(zip(self._known, self._source_of, strict=True))
        numbers = {source for known, source in pairs if known in wanted}
        return [source for source, number in self._sources.items() if number in numbers]

    def get_source(self, number: int) -> int:
        """The number of a request's source, from 0 in the order in which sources were found."""
        return self._source_of[number]

    def list_numbers(
        self, among: Iterable[Known], *, is_recorded: bool | None = None
    ) -> Iterator[int]:
        """Yields the numbers of requests with some outcomes, of one kind of source if given."""
        wanted = frozenset(map(int, among))
        sources = {
            number
            for source, number in self._sources.items()
            if is_recorded in (None, source.is_recorded)
        }
        if sources:
            for number, known in enumerate(self._known):
                if known in wanted and self._source_of[number] in sources:
                    yield number

    def select(
        self, among: Iterable[Known], *, is_recorded: bool | None = None
    ) -> Iterator[Evidence]:
        """Yields the requests whose numbers `list_numbers` yields."""
        return (self[number] for number in self.list_numbers(among, is_recorded=is_recorded))

    def find_newest_age(
        self, among: Iterable[Known], now: float, served_now: float | None
    ) -> float | None:
        """Seconds since the newest of the requests with some outcomes; None if there is none."""
        wanted = frozenset(map(int, among))
        ages = [now - at for known, at in self._newest.items() if known in wanted]
        ages += (
            age_of(at, server_time, now, served_now)
            for known in wanted & self._dated.keys()
            for at, server_time in self._dated[known]
        )
        return min(ages, default=None)


def _keep_latest(pairs: list[tuple[float, float]], new: tuple[float, float]) -> None:
    """Adds a pair, unless one is as late in both; drops those that are later in neither."""
    if not any(at >= new[0] and served >= new[1] for at, served in pairs):
        pairs[:] = [pair for pair in pairs if pair[0] > new[0] or pair[1] > new[1]]
        pairs.append(new)


class Selection(Generic[T]):
    """A lazy sequence of the items of selected numbers, which are built when they are needed."""

    def __init__(self, build: Callable[[int], T]) -> None:
        self._build = build
        self.numbers = array("i")  # a file has fewer rows than that holds

    def add(self, number: int) -> None:
        """Selects an item."""
        self.numbers.append(number)

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[T]:
        return map(self._build, self.numbers)

    def __getitem__(self, place: int) -> T:
        return self._build(self.numbers[place])


class Gathering:
    """Gathers the evidence of each request of a batch; the idempotency key identifies a request.

    `lines` are those of the results file, without likenesses; of a row that a single command has
    done the outcome is `NOTHING`. Requests whose keys are `forgotten` are left out.
    `is_named` is whether the file has an id for each row. `world` identifies the present state of a
    sandbox, None for other services; requests of a state before a reset are left out.

    Attributes:
        by_hand: lines of rows done by single commands that the journal does not have.
        unrecorded: how many requests only the lines have.
        untold: how many requests only the journal has.
    """

    def __init__(
        self,
        lines: Sequence[Evidence],
        *,
        is_named: bool,
        world: str | None,
        forgotten: Collection[str] = (),
    ) -> None:
        self._lines = lines
        self._is_named = is_named
        self._world = world
        self._found = EvidenceList()
        self._by_key = DigestIndex()
        self._taken = bytearray(len(lines))
        self.by_hand: list[Evidence] = []
        self.unrecorded = 0
        self.untold = 0
        for number, line in enumerate(lines):
            if line.key in forgotten:
                self._taken[number] = True
                continue
            self._by_key.add(_mark_key(line.key), number)

    def add(self, intent: Intent) -> None:
        """Adds a request of the journal; `finish` follows the last one."""
        likeness = self._match_of(intent.row_id, intent.likeness)
        numbers = self._by_key.find(_mark_key(intent.stored.idempotency_key))
        self.untold += not numbers
        line = self._take(numbers) if numbers else None
        joined = merge_evidence(build_intent_evidence(intent, likeness), line)
        self._keep(joined._replace(likeness=likeness))

    def finish(self) -> EvidenceList:
        """Adds the requests that only the results file has, once; returns all evidence."""
        for number, line in enumerate(self._lines):
            if self._taken[number]:
                continue
            told = self._take(self._by_key.find(_mark_key(line.key))) or line
            self.unrecorded += 1
            if told.known is Known.NOTHING:
                self.by_hand.append(told)
            self._keep(told._replace(likeness=self._match_of(told.row_id, told.alike)))
        self._by_key = DigestIndex()  # which is large, and was for this
        return self._found

    def _take(self, numbers: Sequence[int]) -> Evidence | None:
        """The last of the lines with one key, for the first request that has the key."""
        if self._taken[numbers[0]]:
            return None
        for number in numbers:
            self._taken[number] = True
        return self._lines[numbers[-1]]

    def _match_of(self, row_id: str | None, likeness: str) -> str:
        return row_likeness(row_id) if self._is_named and row_id else likeness

    def _keep(self, one: Evidence) -> None:
        is_gone = self._world is not None and one.world is not None and one.world != self._world
        if one.known is not Known.NOTHING and not is_gone:
            self._found.append(one)


def _mark_key(key: str) -> str:
    """Marks a key as no digest: of two keys in hexadecimal digits case tells one from the other."""
    return f"={key}"


def flatten_evidence(one: Evidence) -> tuple[object, ...]:
    """Converts evidence to plain tuples; a done request keeps its body only for its subject."""
    *facts, intent = one
    facts[0] = int(one.known)
    if intent is None:
        return (*facts, None)
    stored = intent.stored
    if one.known is Known.DONE and not stored.path.endswith(_TELL_SUBJECT):
        stored = stored._replace(body=b"")
    kept = [tuple(each) if isinstance(each, tuple) else each for each in intent]
    kept[_STORED] = tuple(stored)
    return (*facts, tuple(kept))


_STORED: Final = Intent._fields.index("stored")


def build_evidence(flat: tuple[Any, ...]) -> Evidence:
    """Converts what `flatten_evidence` returns to evidence."""
    known, *facts, kept = flat
    intent = None
    if kept is not None:
        kept = Intent._make(kept)
        intent = kept._replace(
            scope=scope_of(*kept.scope),
            stored=Stored._make(kept.stored),
            settled=kept.settled and Settled._make(kept.settled),
        )
    return Evidence._make((_KNOWN[known], *facts, intent))
