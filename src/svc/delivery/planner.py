"""Plans a run of a batch: compares each row of the file with all evidence of its batch.

A row takes, of the requests that are like it, first one that was carried out, then one whose
outcome is not known, then one that was not carried out; only after these does it get a new key.
`policy` decides what becomes of it.

`cli.batch.run` calls `plan_batch`: rows and facts in, a `BatchPlan` out; nothing is read or sent.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Sequence
from operator import itemgetter
from typing import Final

from svc.client.retry import KEY_SAFE_SECONDS
from svc.delivery.edits import Edits, Reworded, find_overtaking
from svc.delivery.evidence import EFFECTIVE, Evidence, Known, age_of
from svc.delivery.gathering import EvidenceList, EvidenceSource, Selection
from svc.delivery.journal.batches import Duplicate
from svc.delivery.plan import (
    CLOCKS_DIFFER_SECONDS,
    EFFECT_OLD_SECONDS,
    BatchFacts,
    BatchPlan,
    BatchRow,
    InvalidRow,
    RowKeys,
    RowSelection,
    StopReason,
    Task,
    UnsentRow,
)
from svc.delivery.policy import (
    BATCH_STOPS,
    ROW_STOPS,
    DuplicateState,
    KeyRelation,
    RowDecision,
    RowState,
    decide_row,
)
from svc.system.spool import Digests


def plan_batch(rows: Sequence[BatchRow | InvalidRow], facts: BatchFacts) -> BatchPlan:
    """Decides for each row of a file; a pure function, so that a plan can be made again."""
    return _Planner(rows, facts).plan()


class _Planner:
    """Makes one plan; findings about a row are stored under the row's place in the file."""

    def __init__(self, rows: Sequence[BatchRow | InvalidRow], facts: BatchFacts) -> None:
        self._rows = rows
        self._facts = facts
        self._shelf = _Shelf(facts.evidence)
        self._others = _Others(facts)
        self._reworded = Reworded(facts)
        self._matches = array("i")  # the number of each row's evidence, or -1
        self._decisions = array("B")
        self._decided: dict[RowState, RowDecision] = {}  # few states
        self._state: RowState | None = None  # of the row before
        self._decision = RowDecision.SEND
        self._duplicates: dict[int, Duplicate] = {}
        self._before: dict[int, Evidence] = {}
        self._ordinals: dict[int, int] = {}  # of keys that are not the first
        self._walked: dict[int, str] = {}  # keys behind those that are used up
        digests, self._likenesses = Digests(), Digests()
        self._keys = RowKeys(facts.batch, facts.evidence, digests, self._likenesses)
        self._relations: dict[tuple[int, bool], KeyRelation] = {}
        self._plan = BatchPlan(
            tasks=RowSelection(rows, self._task_at),
            bad=RowSelection(rows, self._bad_at),
            keys=self._keys,
            digests=digests,
            done=self._pick(),
            held=self._pick(),
            adopted=self._pick(),
            noted=self._pick(),
        )
        self._stops = defaultdict[RowDecision, RowSelection[UnsentRow]](self._pick)

    def plan(self) -> BatchPlan:
        plan, edits = self._plan, Edits(self._facts.evidence, doubles=self._facts.doubles)
        for place, row in enumerate(self._rows):
            self._match(place, row, edits)
        plan.orphans = list(self._shelf.select_left(Known.UNKNOWN))
        plan.gone = self._shelf.select_left(Known.DONE)
        times = self._facts.times
        plan.newest = self._facts.evidence.find_newest_age(
            (Known.DONE, Known.CONTRADICTED), times.now, times.served
        )
        edits.compare(plan.gone, self._shelf.select_left(Known.REFUSED))
        for place, row in enumerate(self._rows):
            self._decisions.append(0)
            if isinstance(row, BatchRow):
                number = self._matches[place]
                before = None if number >= 0 else edits.find_before(row)
                self._place(place, row, number, before)
        for decision in BATCH_STOPS:
            if decision in self._stops:
                plan.stop = StopReason(decision, self._stops[decision])
                break
        return plan

    def _match(self, place: int, row: BatchRow | InvalidRow, edits: Edits) -> None:
        """Takes for a row the evidence that belongs to it."""
        number = None
        if isinstance(row, InvalidRow):
            self._plan.bad.add(place)
        else:
            number = self._shelf.take(row)
            self._plan.digests.add(row.alike)
            if row.likeness != row.alike:
                self._likenesses.add(row.likeness)
            edits.see(row, number)
            known = Known.NOTHING if number is None else self._facts.evidence.get_known(number)
            if known not in EFFECTIVE:
                self._others.see(row)
            if known not in EFFECTIVE or known is Known.FAILED:
                self._reworded.see(place, row)
        self._matches.append(-1 if number is None else number)

    def _pick(self) -> RowSelection[UnsentRow]:
        return RowSelection(self._rows, self._passed_at)

    def _passed_at(self, place: int) -> UnsentRow:
        row = self._rows[place]
        assert isinstance(row, BatchRow)
        decision = _DECISIONS[self._decisions[place]]
        return UnsentRow(
            row,
            self._evidence_of(place),
            decision,
            self._duplicates.get(place),
            self._before.get(place),
        )

    def _evidence_of(self, place: int) -> Evidence | None:
        number = self._matches[place]
        return None if number < 0 else self._facts.evidence[number]

    def _bad_at(self, place: int) -> InvalidRow:
        row = self._rows[place]
        assert isinstance(row, InvalidRow)
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

    def _place(self, place: int, row: BatchRow, number: int, before: Evidence | None) -> None:
        state, duplicate = self._examine(place, row, number, before)
        decision = self._decide(state)
        self._decisions[place] = _NUMBERS[decision]
        is_other = state.duplicate_state is not DuplicateState.LATER
        if duplicate is not None and (is_other or decision is RowDecision.STOP_ROW_OVERTAKEN):
            self._duplicates[place] = duplicate
        if before is not None:
            self._before[place] = before
        if decision in BATCH_STOPS:
            self._stops[decision].add(place)
        if state.duplicate_state is DuplicateState.OLD:
            self._plan.noted.add(place)
        self._sort(place, row, decision)

    def _examine(
        self, place: int, row: BatchRow, number: int, before: Evidence | None
    ) -> tuple[RowState, Duplicate | None]:
        """The state of a row, and the request outside its own that matters most."""
        known = Known.NOTHING if number < 0 else self._facts.evidence.get_known(number)
        has_name = row.row_id is not None or row.given_key is not None
        is_open = known in (Known.UNKNOWN, Known.FAILED)
        is_read = has_name or is_open or row.path in self._facts.updates
        evidence = self._evidence_of(place) if is_read else None
        is_edited = before is not None or _is_changed(row, evidence)
        allowed = self._facts.permissions
        if row.given_key is not None and evidence is not None:
            allowed = allowed._replace(may_send_edited=False)  # its key stands for what was sent
        is_new = known not in EFFECTIVE or (is_edited and allowed.may_send_edited)
        duplicate_state, duplicate = DuplicateState.NONE, None
        if is_new or is_open:
            sent = evidence if is_open else None
            duplicate_state, duplicate = self._find_duplicate(place, row, sent)
        if duplicate is None and evidence is not None and not is_new:
            duplicate = find_overtaking(row, evidence, self._facts)
            duplicate_state = DuplicateState.LATER if duplicate else duplicate_state
        state = RowState(
            known,
            known is Known.UNKNOWN and evidence is not None and self._is_key_old(evidence),
            not -CLOCKS_DIFFER_SECONDS <= (self._plan.newest or 0.0) < EFFECT_OLD_SECONDS,
            KeyRelation.SAME if number < 0 else self._relation(number, known),
            duplicate_state,
            is_edited,
            *allowed,
        )
        return state, duplicate

    def _find_duplicate(
        self, place: int, row: BatchRow, sent: Evidence | None
    ) -> tuple[DuplicateState, Duplicate | None]:
        state, duplicate = self._others.take(row, sent)
        if state in (DuplicateState.NONE, DuplicateState.OLD):
            reworded = self._reworded.find(place)  # of an unknown row there is none
            if reworded and (sent is None or _is_after(reworded, sent)):
                return _REWORDED[reworded.batch is None], reworded
        return state, duplicate

    def _decide(self, state: RowState) -> RowDecision:
        if state != self._state:  # rows of a file differ little, and a hash takes longer
            self._state = state
            self._decision = self._decided.get(state) or decide_row(state)
            self._decided[state] = self._decision
        return self._decision

    def _sort(self, place: int, row: BatchRow, decision: RowDecision) -> None:
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
            evidence = None if decision is RowDecision.SEND else self._evidence_of(place)
            if evidence is None:
                if not row.given_key and (ordinal := self._keys.first(row)):
                    self._ordinals[place] = ordinal
            elif decision is RowDecision.RETRY_FAILED:
                self._walked[place] = self._keys.after(row, evidence.key)

    def _is_key_old(self, evidence: Evidence) -> bool:
        times, intent = self._facts.times, evidence.intent
        ages = [age_of(evidence.at, evidence.server_time, times.now, times.served)]
        dated = intent.dated_at if intent else None
        if dated is not None and times.dated is not None:
            ages.append(times.dated - dated)
        return max(ages) >= KEY_SAFE_SECONDS or times.now < evidence.at - 10.0

    def _relation(self, number: int, known: Known) -> KeyRelation:
        """Whether the key of an earlier request is of the account; alike for all of one source."""
        evidence = self._facts.evidence
        place = evidence.get_source(number), known is Known.UNKNOWN
        if place not in self._relations:
            one = evidence[number]
            source = EvidenceSource(one.intent is not None, one.key_fingerprint)
            self._relations[place] = self._compare(source, known)
        return self._relations[place]

    def _compare(self, source: EvidenceSource, known: Known) -> KeyRelation:
        seen, is_file = self._facts.unseen, not source.is_recorded
        if is_file and known is not Known.UNKNOWN and seen is not KeyRelation.NOT_KNOWN:
            return seen
        hint = source.key_fingerprint
        if hint and (hint == self._facts.own_key or hint in self._facts.account.same):
            return KeyRelation.SAME
        if hint in self._facts.account.other:
            return KeyRelation.OTHER
        return seen if is_file else KeyRelation.NOT_KNOWN


_DECISIONS: Final = tuple(RowDecision)
_NUMBERS: Final = {decision: number for number, decision in enumerate(_DECISIONS)}
# Of duplicates, a running one matters most, and an old one least.
_KINDS: Final = (
    DuplicateState.RUNNING,
    DuplicateState.UNRESOLVED,
    DuplicateState.BY_HAND,
    DuplicateState.RECENT,
    DuplicateState.OLD,
    DuplicateState.NONE,
)
_REWORDED: Final = (DuplicateState.REWORDED, DuplicateState.BY_HAND_REWORDED)


class _Shelf:
    """The evidence of a batch, found by likeness and by idempotency key; each is taken once.

    Of one likeness the last in its list is taken first.
    """

    def __init__(self, evidence: EvidenceList) -> None:
        self._evidence = evidence
        self._taken = bytearray(len(evidence))
        self._lists: dict[str, list[int]] = {}  # of likenesses with more than one request
        self._by_row: dict[str, dict[int, int]] = {}  # of those, the first of each row
        self._tried = bytearray(len(evidence))  # whether the only one of a likeness was

    def take(self, row: BatchRow) -> int | None:
        """Takes the evidence that belongs to a row; returns its number, or None."""
        if not self._taken:
            return None
        own = self._evidence.find_key(row.given_key) if row.given_key else ()
        if own and not self._taken[own[-1]]:
            return self._mark(own[-1])
        # What was kept before likenesses were, and has no body any more, is known by its digest.
        for same in dict.fromkeys((row.likeness, row.alike, row.digest)):
            shelf = self._find_shelf(same, row)
            while shelf:
                found = shelf.pop()
                known = self._evidence.get_known(found)
                # A key of the row's own says that it is another request than what came to nothing.
                is_other = row.given_key is not None and known <= Known.KEY_TAKEN
                if not self._taken[found] and not is_other:
                    return self._mark(found)
        return None

    def select_left(self, known: Known) -> Selection[Evidence]:
        """The requests with an outcome that no row has taken; of one key the last."""
        found = Selection(self._evidence.__getitem__)
        for number in self._evidence.list_numbers((known,)):
            if self._evidence.find_equal(number)[-1] == number and not self._taken[number]:
                found.add(number)
        return found

    def _mark(self, number: int) -> int:
        for equal in self._evidence.find_equal(number):
            self._taken[equal] = True
        return number

    def _find_shelf(self, likeness: str, row: BatchRow) -> list[int]:
        """The requests of a likeness that are not taken yet, those that come first at the end."""
        shelf = self._lists.get(likeness)
        if shelf is None:
            shelf = self._evidence.find_like(likeness)
            if len(shelf) == 1:
                is_tried, self._tried[shelf[0]] = self._tried[shelf[0]], True
                return [] if is_tried else shelf
            if not shelf:
                return shelf
            shelf.sort(key=lambda number: _order(self._evidence[number]))
            self._by_row[likeness] = {
                self._evidence.get_row(number): number for number in reversed(shelf)
            }
            shelf.reverse()
            self._lists[likeness] = shelf
        self._put_current_last(shelf, row.alike)
        # Of equal rows each takes its own: `Edits` sees by that whether rows were moved.
        own = self._by_row[likeness].get(row.number) if likeness == row.alike else None
        if own is None or not shelf or self._taken[own]:
            return shelf
        known = self._evidence.get_known
        return [own] if known(own) is known(shelf[-1]) else shelf

    def _put_current_last(self, shelf: list[int], alike: str) -> None:
        """Moves to the end the evidence that had an effect with the row's present parameters.

        Rows with the same id have one likeness, and may have been sent with different parameters.
        """
        if len(shelf) > 1 and self._evidence[shelf[-1]].alike != alike:
            for place in reversed(range(len(shelf))):
                one = self._evidence[shelf[place]]
                if one.alike == alike and one.known in EFFECTIVE:
                    shelf.append(shelf.pop(place))
                    return


def _order(one: Evidence) -> tuple[int, int, int, int]:
    """The sort key of evidence: requests that were carried out, then unknown ones, newest first.

    Requests whose object has failed come after the unknown ones: an unknown request may be the one
    that replaced a failed request.

    Results files record whole seconds. Requests of the same second keep the order of their rows;
    for requests of one row the journal's numbers decide which is newer.
    """
    seq = 0 if one.intent is None else one.intent.seq
    known = Known.KEY_TAKEN if one.known is Known.FAILED else max(one.known, Known.REFUSED)
    return -known, -int(one.at), one.row or 0, -seq


class _Others:
    """Duplicates outside the batch; a request that was sent by hand counts for one row."""

    def __init__(self, facts: BatchFacts) -> None:
        self._facts = facts
        # By likeness: how much each matters, its place in the list of all, and itself.
        self._by: dict[str, list[tuple[int, int, Duplicate]]] = {}
        for place, one in enumerate(facts.duplicates):
            if facts.may_be_here(one):
                entry = _KINDS.index(self._kind(one)), place, one
                self._by.setdefault(one.likeness, []).append(entry)
        self._newest: dict[str, float] = {}  # when the newest of a likeness was recorded
        for likeness, found in self._by.items():
            self._newest[likeness] = max(one.created_at for _, _, one in found)
            found.sort(reverse=True)  # what matters most is at the end
        self._unsent: Counter[str] = Counter()  # rows of these likenesses, none of them sent yet

    def see(self, row: BatchRow) -> None:
        """Counts a row that was not sent, which uses up a single command before an unknown one."""
        if self._by and (likeness := row.alike or row.likeness) in self._by:
            self._unsent[likeness] += 1

    def take(
        self, row: BatchRow, sent: Evidence | None = None
    ) -> tuple[DuplicateState, Duplicate | None]:
        """Finds the duplicate of a row that matters most: a running one first, an old one last.

        With the evidence of a row that is unknown, only those count that were not stopped by it;
        of one that has failed, however old, those that came after it.
        """
        likeness = row.alike or row.likeness
        found = self._by.get(likeness)
        if not found:
            return DuplicateState.NONE, None
        first: tuple[int, int, Duplicate] | None = found[-1]
        counts = _was_unaware
        if sent is None:
            self._unsent[likeness] -= 1
        else:
            if sent.known is Known.FAILED:
                counts = _is_after
            elif self._newest[likeness] <= sent.at + 1:  # so no one was unaware
                return DuplicateState.NONE, None
            counted = [entry for entry in found if counts(entry[2], sent)]
            counted.sort(key=itemgetter(1))
            left = max(len(counted) - self._unsent[likeness], 0)
            first = min(counted[:left], default=None)
        if first is None:
            return DuplicateState.NONE, None
        kind, duplicate = _KINDS[first[0]], first[2]
        if kind is DuplicateState.OLD and counts is _is_after:
            kind = DuplicateState.RECENT
        if kind is DuplicateState.BY_HAND:
            del found[-1 if sent is None else found.index(first)]  # it uses up one row
        return kind, None if kind is DuplicateState.NONE else duplicate

    def _kind(self, one: Duplicate) -> DuplicateState:
        if not one.done:
            return DuplicateState.RUNNING if one.request is None else DuplicateState.UNRESOLVED
        may_skip = one.batch is None and self._facts.permissions.may_skip_done
        if not (self._facts.doubles or may_skip):  # the service refuses a second one
            return DuplicateState.NONE
        if self._facts.is_old(one):
            return DuplicateState.OLD
        return DuplicateState.BY_HAND if one.batch is None else DuplicateState.RECENT


def _was_unaware(one: Duplicate, sent: Evidence) -> bool:
    """Whether a duplicate was begun where the journal did not know of an unknown request.

    The journal takes such a request from the results file only later, with a time in whole seconds.
    """
    if one.seq is None or one.created_at <= sent.at + 1:
        return False
    return sent.intent is None or one.seq < sent.intent.seq


def _is_after(one: Duplicate, sent: Evidence) -> bool:
    """Whether a duplicate was begun after a request that has failed, in whose place it may be."""
    return one.request is None or max(one.created_at, one.settled_at or 0.0) > sent.at


def _is_changed(row: BatchRow, evidence: Evidence | None) -> bool:
    """Whether a row with an id or key of its own was sent with other parameters than now."""
    if evidence is None or evidence.known not in EFFECTIVE:
        return False
    if row.row_id is None and row.given_key != evidence.key:
        return False
    return evidence.alike not in ("", row.alike)
