"""The ledger: one row for each event and target, which says what is still to be done there.

A row is written in the transaction that keeps its event, and changed in those that record attempts.
It has a `State`; up to `LEFT` the event is still to be forwarded.

`SqliteInbox` is a `ForwardLedger`: the pumps read from it the events that are due at their targets,
and `commit` records the outcomes of attempts.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from typing import Any, Final

from svc.listen.inbox.interfaces import (
    Batch,
    EndedEvent,
    ForwardAttempt,
    InboundEvent,
    OpenItem,
    Retries,
)
from svc.listen.inbox.runs import (
    IN_TURN,
    NOT_CUT,
    PIECE,
    PIECE_ROWS,
    PUT_OFF,
    TURNS_UNKNOWN,
    begin_in_pieces,
    begin_run,
    change_in_pieces,
    read_open_events,
)
from svc.listen.inbox.statements import ROWS, chunks, list_of, rows_of
from svc.state import Database, Row, Tx

_LEFT_ROWS: Final = 256
_PAGE_BYTES: Final = 4 * 1024 * 1024
_PAGES_NOTED: Final = 3


class State(IntEnum):
    """The state of an event at one target, from still to be sent (`NEW`) to closed (`DONE`)."""

    NEW = 0
    WAITS = 1  # an older event of its object is open
    LATER = 2
    LEFT = 3  # alone, in a run with --no-resume
    DONE = 4
    FAILED = 5
    RETURNED = 6
    RESET = 7


_ENDS: Final = {
    "later": State.LATER,
    "failed": State.FAILED,
    "returned": State.RETURNED,
}


class ForwardLedger:
    """The rows of one listener's targets."""

    def __init__(self, state: Database, listener: int) -> None:
        self._state = state
        self._listener = listener
        self._ordered = False
        self._numbers: dict[str, int] = {}  # of what is committed
        self._cut: dict[str, int] = {}
        self._learn()

    def begin(self, targets: Sequence[str], *, ordered: bool, anew: bool) -> None:
        """Begins a run with these targets."""
        with self._state.write() as tx:
            for url in targets:
                tx.execute(_ADD_TARGET, (self._listener, url))
            found = [row for row in tx.rows(_TARGETS, (self._listener,)) if row["url"] in targets]
            begun = [(row, begin_run(tx, row, ordered=ordered, anew=anew)) for row in found]
        for row, turns in begun:
            if turns is not None:
                begin_in_pieces(self._state, row, ordered=ordered, anew=anew, turns=turns)
        self._ordered = ordered
        self._learn()

    def adopt(self, targets_of: Callable[[str], Sequence[str]], targets: Sequence[str]) -> None:
        """Before a run: moves events open at former targets to the present ones of their type."""
        with self._state.write() as tx:
            tx.execute(
                "UPDATE targets SET ordered = ? WHERE listener = ?",
                (TURNS_UNKNOWN, self._listener),
            )
            others = [
                row for row in tx.rows(_TARGETS, (self._listener,)) if row["url"] not in targets
            ]
        for other in others:
            for events in read_open_events(self._state, other["id"]):
                with self._state.write() as tx:
                    self._adopt(tx, other["id"], events, targets_of)

    def _adopt(
        self, tx: Tx, other: int, events: Sequence[int], targets_of: Callable[[str], Sequence[str]]
    ) -> None:
        for event in events:
            for row in tx.rows(_OPEN_TYPE, (other, event)):  # one, or none where it was closed
                numbers = [self.number(tx, url) for url in targets_of(row["type"])]
                given = [(number, event) for number in numbers]
                tx.many("INSERT OR IGNORE INTO ledger (target, event) VALUES (?, ?)", given)
                if given:
                    tx.execute("DELETE FROM ledger WHERE target = ? AND event = ?", (other, event))

    def add(
        self, tx: Tx, inbound_events: Sequence[InboundEvent], seqs: Sequence[int]
    ) -> list[tuple[str, ...]]:
        """Adds rows of inbound events; returns for each the targets where it waits for its turn."""
        waits: list[tuple[str, ...]] = []
        plain: list[object] = []
        for inbound, seq in zip(inbound_events, seqs, strict=True):
            if inbound.ordered and inbound.delivery.facts.object_id:
                waits.append(self._add_in_turn(tx, inbound, seq))
                continue
            waits.append(())
            for url in inbound.targets:
                plain += (self.number(tx, url), seq)
        for some in chunks(plain, 2 * ROWS):
            tx.execute(rows_of(_ADD, 2, len(some) // 2), some)
        return waits

    def number(self, tx: Tx, url: str) -> int:
        """Returns a target's number."""
        known = self._numbers.get(url)
        if known is not None:
            return known
        tx.execute(_ADD_TARGET, (self._listener, url))
        [row] = tx.rows(_TARGET, (self._listener, url))
        return int(row["id"])

    def states(self, tx: Tx | Database, seqs: Iterable[int]) -> dict[int, tuple[int, int]]:
        """Returns the lowest and the highest state that each of some events has at its targets."""
        numbers = [row["id"] for row in tx.rows(_TARGETS, (self._listener,))]
        found: dict[int, tuple[int, int]] = {}
        for some in chunks([*seqs], ROWS):
            for row in tx.rows(list_of(_STATES, len(numbers), len(some)), (*numbers, *some)):
                found[row["event"]] = (row["low"], row["high"])
        return found

    def take_again(self, tx: Tx, seq: int, urls: Sequence[str]) -> None:
        """Marks an event to be sent again to its present targets that have not accepted it."""
        wanted = {self.number(tx, url) for url in urls}
        for row in tx.rows(_TARGETS, (self._listener,)):
            tx.execute(_TAKE_AGAIN if row["id"] in wanted else _LET_GO, (row["id"], seq))
        tx.many(
            "INSERT OR IGNORE INTO ledger (target, event, state) VALUES (?, ?, 2)",
            [(number, seq) for number in sorted(wanted)],
        )

    def note(self, tx: Tx, batch: Batch) -> None:
        """Records how attempts ended, and the consequences for events and their objects."""
        for attempts in chunks(batch.attempts, 4 * ROWS):
            self._note_attempts(tx, attempts)
        closed = [one for one in batch.attempts if one.verdict in ("done", "failed", "returned")]
        freed: set[str] = set()
        if self._ordered:
            for one in closed:
                if _free_next(tx, self.number(tx, one.target), one.seq):
                    freed.add(one.target)
        batch.ended = self._list_ended(tx, closed)
        batch.hastening = [url for url in batch.well if self._hasten(tx, url, freed)]
        batch.freed = freed
        for rest in batch.rests:
            since = rest.since if rest.why is not None else None
            tx.execute(_REST, (rest.why, since, rest.last, self.number(tx, rest.target)))
        for url in batch.closing:
            tx.execute("UPDATE targets SET running = 0 WHERE id = ?", (self.number(tx, url),))

    def _hasten(self, tx: Tx, url: str, freed: set[str]) -> bool:
        """Has a piece of what a target was ailing with due now; says whether there may be more."""
        number = self.number(tx, url)
        changed = tx.execute(_HASTEN, (number, number, PIECE_ROWS))
        if changed:
            freed.add(url)
        return changed == PIECE_ROWS

    def leave(self, target: str) -> list[OpenItem]:
        """Marks a page of open events as left for a later run."""
        number = self._numbers[target]
        with self._state.write() as tx:
            found = tx.rows(_PAGE.format(_OPEN), (number, _LEFT_ROWS, _PAGE_BYTES))
            tx.many(_LEAVE, [(number, row["event"]) for row in found])
        return [self._item(row, target) for row in found]

    def due(self, target: str, after: int, most: int) -> list[OpenItem]:
        """Returns a page of events that were not tried yet, oldest first."""
        items = self._page(_NEW, target, (after, most, _PAGE_BYTES))
        self._let_run(target, items[-1].seq if items else None, spare=_PAGES_NOTED * most)
        return items

    def again(self, target: str, now: float, most: int) -> Retries:
        """Returns a page of events whose next attempt is due."""
        items = self._page(_LATER, target, (now, most, _PAGE_BYTES))
        if items:
            self._let_run(target, max(one.seq for one in items))
        [row] = self._state.rows(_SOONEST, (self._numbers[target], now))
        return Retries(items, row["soonest"])

    def hand_back(self) -> None:
        """Closes all open events: the log of a group hands them out again, here or elsewhere."""
        for row in self._state.rows(_TARGETS, (self._listener,)):
            change_in_pieces(self._state, _HAND_BACK, row["id"])

    def count(self, targets: Sequence[str]) -> int:
        """Counts the events that are open at any of these targets."""
        numbers = [self._numbers[url] for url in targets if url in self._numbers]
        # Of one target each row is an event of its own: to tell those of a million takes a second.
        statement = list_of(_COUNT_OF_SEVERAL, len(numbers)) if len(numbers) > 1 else _COUNT
        [row] = self._state.rows(statement, numbers or (0,))
        return int(row["events"])

    def count_failed(self, seqs: Iterable[int]) -> int:
        """Counts those of these events that a target has not taken, for good."""
        states = self.states(self._state, seqs).values()
        return sum(high == State.FAILED for _, high in states)

    def _learn(self) -> None:
        rows = self._state.rows(_TARGETS, (self._listener,))
        self._numbers = {row["url"]: row["id"] for row in rows}
        self._cut = {row["url"]: row["cut"] for row in rows}

    def _add_in_turn(self, tx: Tx, inbound: InboundEvent, seq: int) -> tuple[str, ...]:
        """Adds the rows of an event that waits where an older one of its object is open."""
        waits = []
        object_id = inbound.delivery.facts.object_id
        for url in inbound.targets:
            number = self.number(tx, url)
            older = tx.rows(_FIRST_OF_OBJECT, (number, object_id))
            state = State.WAITS if older else State.NEW
            tx.execute(_ADDIN_TURN, (number, seq, state, object_id))
            if older:
                waits.append(url)
        return tuple(waits)

    def _note_attempts(self, tx: Tx, attempts: Sequence[ForwardAttempt]) -> None:
        done: list[Any] = []
        others: list[Any] = []
        untried: list[Any] = []
        failures: list[object] = []
        for one in attempts:
            number = self.number(tx, one.target)
            result = (one.started_at, one.milliseconds, one.status, one.error, one.reply or None)
            if one.verdict == "done":
                done.append((one.sent, *result, number, one.seq))
                continue
            if one.verdict in _ENDS:
                state = _ENDS[one.verdict]
                others.append((state, one.next_at, one.ailing, one.sent, *result, number, one.seq))
            else:
                untried.append((one.sent, one.error, number, one.seq))
            if one.verdict != "cut":
                failures += (one.seq, one.target, one.number, one.started_at, one.milliseconds)
                failures += (one.status, one.error, one.reply, 0)
        for statement, values in ((_DONE, done), (_NOT_DONE, others), (_UNTRIED, untried)):
            if values:
                tx.many(statement, values)
        for some in chunks(failures, 9 * ROWS):
            tx.execute(rows_of(_FAILURES, 9, len(some) // 9), some)

    def _list_ended(self, tx: Tx, closed: Sequence[ForwardAttempt]) -> list[EndedEvent]:
        """Returns the events that have ended at all their targets."""
        if len(self._numbers) == 1 and all(one.verdict == "done" for one in closed):
            return [EndedEvent(one.seq, one.type, taken=True) for one in closed]
        types = {one.seq: one.type for one in closed}
        states = self.states(tx, types) if types else {}
        return [
            EndedEvent(seq, types[seq], high == State.DONE, high == State.RETURNED)
            for seq, (low, high) in states.items()
            if low >= State.DONE
        ]

    def _let_run(self, url: str, last: int | None, spare: int = 0) -> None:
        """Notes that events up to the last, and some to spare, may be under way; None: all."""
        number = self._numbers[url]
        [row] = self._state.rows("SELECT running FROM targets WHERE id = ?", (number,))
        if row["running"] > 1 and (last is None or last + 2 > row["running"]):
            running = 1 if last is None else last + spare + 2
            with self._state.write() as tx:
                tx.execute("UPDATE targets SET running = ? WHERE id = ?", (running, number))

    def _page(self, which: str, url: str, values: Sequence[object]) -> list[OpenItem]:
        rows = self._state.rows(_PAGE.format(which), (self._numbers[url], *values))
        return [self._item(row, url) for row in rows]

    def _item(self, row: Row, url: str) -> OpenItem:
        cut = row["event"] <= self._cut.get(url, 0) and row["next_at"] > NOT_CUT
        return OpenItem(
            seq=row["event"],
            event_id=row["event_id"],
            type=row["type"],
            object_id=row["object_id"],
            headers=row["headers"],
            body=row["body"],
            attempts=row["attempts"],
            last_at=row["at"] or 0.0,
            redelivered=row["redelivered"] + row["sent"] + cut,
        )


def close_elsewhere(tx: Tx, seq: int, urls: Iterable[str], states: Sequence[State]) -> None:
    """Closes an event at targets that took it from another program, if its state is given.

    Events that waited for it get their turn.
    """
    rows = tx.rows(_ROWS_OF_EVENT, (seq,))
    for row in rows:
        if row["state"] != State.DONE and (row["url"] in urls or row["state"] in states):
            tx.execute(_CLOSE, (row["target"], seq))
            _free_next(tx, row["target"], seq)


def close_for_reset(state: Database, scope: str) -> None:
    """Closes all that a listener has open: its sandbox was reset and knows nothing of it."""
    for row in state.rows(_TARGETS_OF_SCOPE, (scope,)):
        change_in_pieces(state, _RESET, row["id"])


def forget_rows(tx: Tx, seqs: Sequence[tuple[int]]) -> None:
    """Deletes the rows of events that are no longer kept."""
    numbers = [row["id"] for row in tx.rows("SELECT id FROM targets")]
    rows = [(number, seq) for number in numbers for (seq,) in seqs]
    tx.many("DELETE FROM ledger WHERE target = ? AND event = ?", rows)


def _free_next(tx: Tx, number: int, seq: int) -> bool:
    """Gives its turn to the event that waits for this one; says whether there is one."""
    found = tx.rows(_NEXT_OF_OBJECT, (number, number, seq))
    if not found or found[0]["state"] != State.WAITS:
        return False
    tx.execute(_FREE, (number, found[0]["event"]))
    return True


# SQLite uses an index of some rows only where their condition stands in the statement word by word,
# and takes a condition for a better way in than it is, unless told that it is likely. Without the
# names of indexes it would read all of a target's rows, which are those of a month.
_OPEN_TYPE: Final = """
SELECT type FROM ledger JOIN inbox ON seq = event WHERE target = ? AND event = ? AND state < 4"""
_ADD_TARGET: Final = "INSERT OR IGNORE INTO targets (listener, url) VALUES (?, ?)"
_TARGET: Final = "SELECT id FROM targets WHERE listener = ? AND url = ?"
_TARGETS: Final = "SELECT id, url, ordered, running, cut FROM targets WHERE listener = ?"
_REST: Final = """
UPDATE targets SET resting = ?, since = ?, running = COALESCE(2 + ?, running) WHERE id = ?"""
_ADD: Final = "INSERT OR FAIL INTO ledger (target, event) VALUES "
_ADDIN_TURN: Final = "INSERT INTO ledger (target, event, state, object) VALUES (?, ?, ?, ?)"
_FIRST_OF_OBJECT: Final = """
SELECT event, state FROM ledger INDEXED BY ledger_turns
WHERE target = ? AND object = ? AND state < 3 AND object IS NOT NULL ORDER BY event LIMIT 1"""
_NEXT_OF_OBJECT: Final = """
SELECT event, state FROM ledger INDEXED BY ledger_turns WHERE target = ?
  AND object = (SELECT object FROM ledger WHERE target = ? AND event = ?)
  AND state < 3 AND object IS NOT NULL ORDER BY event LIMIT 1"""
_STATES: Final = """
SELECT event, MIN(state) AS low, MAX(state) AS high FROM ledger
WHERE target IN (%s) AND event IN (%s) GROUP BY event"""
_LET_GO: Final = "DELETE FROM ledger WHERE target = ? AND event = ? AND state IN (3, 5, 6)"
_TAKE_AGAIN: Final = """
UPDATE ledger SET state = 2, next_at = MIN(next_at, 0), ailing = 0
WHERE target = ? AND event = ? AND state IN (3, 5, 6)"""
# What another program has had taken meanwhile stays taken.
_DONE: Final = """
UPDATE ledger SET state = 4, attempts = attempts + 1, next_at = 0, ailing = 0, sent = sent + ?,
  at = ?, milliseconds = ?, last_status = ?, error = ?, reply = ? WHERE target = ? AND event = ?"""
_NOT_DONE: Final = """
UPDATE ledger SET state = ?, attempts = attempts + 1, next_at = ?, ailing = ?, sent = sent + ?,
  at = ?, milliseconds = ?, last_status = ?, error = ?, reply = ?
WHERE target = ? AND event = ? AND state < 4"""
_UNTRIED: Final = """
UPDATE ledger SET sent = sent + ?, error = ? WHERE target = ? AND event = ? AND state < 4"""
# A crash may have lost the count of an attempt; then the later one of that number stays.
_FAILURES: Final = (
    "INSERT OR REPLACE INTO forwards (inbox_seq, target, attempt, started_at, milliseconds,"
    " status, error, reply, replay) VALUES "
)
_HASTEN: Final = PIECE.format("next_at = 0, ailing = 0", "open", f"{PUT_OFF} AND ailing")
_LEAVE: Final = f"UPDATE ledger SET state = 3, {IN_TURN} WHERE target = ? AND event = ?"  # noqa: S608
_FREE: Final = f"UPDATE ledger SET state = 2, {IN_TURN} WHERE target = ? AND event = ?"  # noqa: S608
_CLOSE: Final = "UPDATE ledger SET state = 4, next_at = 0 WHERE target = ? AND event = ?"
_ROWS_OF_EVENT: Final = """
SELECT target, url, state FROM targets CROSS JOIN ledger ON target = id AND event = ?"""
_TARGETS_OF_SCOPE: Final = """
SELECT targets.id FROM targets JOIN listeners ON listeners.id = listener WHERE scope = ?"""
_RESET: Final = PIECE.format("state = 7, next_at = 0", "open", "state < 4")
_HAND_BACK: Final = PIECE.format("state = 6, next_at = 0", "open", "state < 4")
_COUNT: Final = """
SELECT COUNT(*) AS events FROM ledger INDEXED BY ledger_open
WHERE target = ? AND state < 4 AND state IN (0, 1, 2)"""
_COUNT_OF_SEVERAL: Final = """
SELECT COUNT(DISTINCT event) AS events FROM ledger INDEXED BY ledger_open
WHERE target IN (%s) AND state < 4 AND state IN (0, 1, 2)"""
_SOONEST: Final = """
SELECT MIN(next_at) AS soonest FROM ledger INDEXED BY ledger_open
WHERE target = ? AND state = 2 AND likely(state < 4) AND next_at > ?"""
_NEW: Final = "state = 0 AND next_at = 0 AND event > ?"
_LATER: Final = "state = 2 AND next_at <= ?"
_OPEN: Final = "state IN (0, 1, 2)"
# As many rows as fit into the page's bytes, and always one.
_PAGE: Final = """
SELECT * FROM (
  SELECT event, next_at, attempts, sent, at, event_id, type, object_id, redelivered, headers, body,
    SUM(LENGTH(body)) OVER (ORDER BY next_at, event) - LENGTH(body) AS before
  FROM (
    SELECT event, next_at, attempts, sent, at FROM ledger INDEXED BY ledger_open
    WHERE target = ? AND likely(state < 4) AND {} ORDER BY next_at, event LIMIT ?
  ) JOIN inbox ON seq = event JOIN payloads ON inbox_seq = event
) WHERE before < ? ORDER BY next_at, event"""
