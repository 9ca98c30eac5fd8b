"""Finds rows that seem to be done rows in other words (promise R115).

`planner` asks it for each row that nothing of its batch has done: `Edits` compares the row with the
done rows that are no longer in the file, `Reworded` with what was done outside the batch.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Final, TypeAlias

from svc.delivery.evidence import Evidence, Known, age_of
from svc.delivery.gathering import EvidenceList, Selection
from svc.delivery.journal.batches import Duplicate
from svc.delivery.likeness import (
    about_of,
    are_told_apart,
    effect_of,
    is_making,
    read_folded,
    read_marks,
    read_subject,
)
from svc.delivery.plan import EFFECT_OLD_SECONDS, BatchFacts, BatchRow
from svc.system.spool import DigestIndex

_COPIED_MIN: Final = 2  # rows of a copy


class Edits:
    """Finds new rows that seem to be edited versions of done rows (promise R115).

    A new row counts as edited if a done row about the same object, such as one payment, is no
    longer in the file. A new order is about no existing object: it counts as edited if it has the
    row number of a done row that is gone, and every other done row still has its own number.
    """

    def __init__(self, evidence: EvidenceList, *, doubles: bool) -> None:
        self._evidence = evidence
        self._doubles = doubles
        self._stay = self._moved = False  # whether any done row is in its place, and out of it
        self._is_any_left = False
        self._by_place: dict[int, int] = {}
        self._by_subject = DigestIndex()

    def see(self, row: BatchRow, number: int | None) -> None:
        """Records whether a done row still has its row number."""
        if number is not None and self._evidence.get_known(number) is Known.DONE:
            is_in_place = self._evidence.get_row(number) == row.number
            self._stay |= is_in_place
            self._moved |= not is_in_place

    def compare(self, gone: Selection[Evidence], refused: Selection[Evidence]) -> None:
        """Indexes the done rows that are no longer in the file; called after all rows were seen.

        So it does those that were refused, though not by the service itself: they may be done too.
        """
        if self._doubles and self._stay and not self._moved:
            self._by_place = {self._evidence.get_row(number): number for number in gone.numbers}
        left = chain(
            zip(refused.numbers, refused, strict=True), zip(gone.numbers, gone, strict=True)
        )
        for number, one in left:
            is_open = one.intent is not None and not one.intent.is_refused_for_good
            if (one.known is Known.DONE or is_open) and (about := _subject_of(one)):
                self._by_subject.add(about, number)
        self._is_any_left = bool(gone or refused)

    def find_before(self, row: BatchRow) -> Evidence | None:
        """The row, no longer in the file, of which a new row seems to be an edited version."""
        if not self._is_any_left:
            return None
        number: int | None = None
        if row.subject:
            number = self._by_subject.find_last(about_of(row.subject))
        elif is_making(row.path):
            number = self._by_place.get(row.number)
        return None if number is None else self._evidence[number]


def _subject_of(one: Evidence) -> str:
    """The object that a request was about; where its body was deleted, as its results file says."""
    subject = "" if one.intent is None else read_subject(*one.intent.stored[:3])
    return about_of(subject) or one.about or ""


class Reworded:
    """Finds rows that another batch or a single command has, or may have, done in other words.

    Such a row has the effect of that request, such as the same amount to the same account, and
    nothing that a merchant writes to tell payments apart differs: the reference, a value of the
    metadata, an id or a key of the row's own. What only one of both has tells nothing apart.

    Where such a mark differs, it is another payment, as in the file of every night. But if most of
    a file's new rows, and two at least, have the effect of what was done less than 12 hours ago,
    the file is a copy of that one whose marks were changed.
    """

    def __init__(self, facts: BatchFacts) -> None:
        self._encoding = facts.encoding
        self._by_effect: dict[str, RequestsOfEffect] = {}
        self._young: set[Duplicate] = set()
        self._told: dict[int, Duplicate] = {}  # by the place of the row
        self._told_apart: dict[int, Duplicate] = {}
        self._count = 0
        times = facts.times
        for one in facts.moved:
            age = age_of(one.settled_at or 0.0, one.server_time, times.now, times.served)
            if not facts.is_old(one) and facts.may_be_here(one):
                self._by_effect.setdefault(one.effect, RequestsOfEffect()).add(one)
                if age < EFFECT_OLD_SECONDS and one.done and one.batch is not None:
                    self._young.add(one)

    def see(self, place: int, row: BatchRow) -> None:
        """Pairs a row that is new in its batch with the nearest request of its effect."""
        self._count += 1
        requests = self._by_effect and self._by_effect.get(effect_of(row.subject, row.amount))
        if not requests:
            return
        key = row.given_key
        marks = read_marks(row.path, self._encoding, row.body, row_id=row.row_id, key=key)
        nearest = requests.take_nearest(row.alike, row.currency, marks)
        if nearest is None or nearest.likeness == row.alike:
            return
        if not are_told_apart(marks, nearest.marks):
            self._told[place] = nearest
        elif nearest in self._young:
            self._told_apart[place] = nearest

    def find(self, place: int) -> Duplicate | None:
        """The request that has done a row in other words, or None; called after all were seen."""
        is_copy = len(self._told_apart) >= _COPIED_MIN and 2 * len(self._told_apart) > self._count
        return self._told.get(place) or (self._told_apart.get(place) if is_copy else None)


class RequestsOfEffect:
    """Requests of one effect, each of which is taken once, by what they say.

    Requests that say something of the same kinds are a group, and of each group there is an index
    by what a row was asked for so far: equal amounts to one account may be thousands.
    """

    def __init__(self) -> None:
        self._requests: list[Duplicate] = []
        self._taken = bytearray()
        self._groups = defaultdict[frozenset[str], list[int]](list)
        self._indexes: dict[tuple[frozenset[str], frozenset[str]], _Index] = {}

    def add(self, one: Duplicate) -> None:
        """Adds a request; all are added before one is taken."""
        self._groups[frozenset(_list_said(one))].append(len(self._requests))
        self._requests.append(one)
        self._taken.append(False)

    def take_nearest(
        self, alike: str, currency: str | None, marks: Iterable[tuple[str, str]]
    ) -> Duplicate | None:
        """Takes a request of the same parameters, else one that is not told apart, else any.

        Of equally near ones it is the first; each has the currency, unless one does not say it.
        """
        same, told = {_LIKENESS: alike}, dict(marks)
        always = {} if currency is None else {_CURRENCY: currency}
        for said in (same | told, same, told, {}):
            found = self._find_first(said | always)
            if found is not None:
                self._taken[found] = True
                return self._requests[found]
        return None

    def _find_first(self, said: Mapping[str, str]) -> int | None:
        """The first that is left and says nothing else where it says something of the same kind."""
        first = []
        for kinds, group in self._groups.items():
            common = kinds.intersection(said)
            index = self._indexes.get((kinds, common))
            if index is None:
                index = self._indexes[kinds, common] = defaultdict(list)
                for number in reversed(group):
                    index[_pick_values(_list_said(self._requests[number]), common)].append(number)
            left = index.get(_pick_values(said, common), [])
            while left and self._taken[left[-1]]:
                left.pop()
            first += left[-1:]
        return min(first, default=None)


_Index: TypeAlias = defaultdict[tuple[str, ...], list[int]]
_LIKENESS: Final = "--likeness"  # no mark has these names
_CURRENCY: Final = "--currency"


def _list_said(one: Duplicate) -> dict[str, str]:
    said = {_LIKENESS: one.likeness, **dict(one.marks)}
    return said | {_CURRENCY: one.currency} if one.currency is not None else said


def _pick_values(said: Mapping[str, str], kinds: Iterable[str]) -> tuple[str, ...]:
    return tuple(said[kind] for kind in sorted(kinds))


def find_overtaking(row: BatchRow, sent: Evidence, facts: BatchFacts) -> Duplicate | None:
    """Finds the request that gave the object of an update another value after that was sent.

    Of each parameter the last request that sets it counts.
    """
    later: dict[str, tuple[str, Duplicate]] = {}
    for one in facts.updates.get(row.path, ()):
        seq = sent.intent.seq if sent.intent else None
        is_later = one.created_at > sent.at + 1 if seq is None else (one.seq or 0) > seq
        if is_later and facts.may_be_here(one):
            later |= {name: (text, one) for name, text in one.marks}
    said = read_folded(row.path, facts.encoding, row.body) if later else ()
    found = (later[name][1] for name, text in said if name in later and later[name][0] != text)
    return next(found, None)
