"""Prepares the rows of a target at the start of a run: what an earlier run left open.

`ledger.begin` calls it for each target, a piece at a time, so that other writers are not blocked.
"""

from collections.abc import Iterator
from typing import Final

from svc.state import Database, Row, Tx

# Rows that one transaction changes: a delivery, or a journal, waits for no more than that.
PIECE_ROWS: Final = 1_000
TURNS_UNKNOWN: Final = 2  # in place of whether a target's rows are ordered
_NOTHING_READ: Final = 2  # of a run: no event is under way
NOT_CUT: Final = -1  # as the time that an event is due: now, and no killed run had sent it


def begin_run(tx: Tx, row: Row, *, ordered: bool, anew: bool) -> bool | None:
    """Begins a run at one target.

    Returns None if its rows are ready; else `begin_in_pieces` must change them first, and the value
    is its argument `turns`: whether the order of events of one object is to be found anew.
    """
    number = (row["id"],)
    if row["running"]:
        tx.execute(_CUT, number)
    turns = row["ordered"] != ordered or bool(tx.rows(_IS_LEFT, number))
    looks = {_IS_PUT_OFF: anew, _IS_NOT_CUT: row["running"]}
    changes = any(tx.rows(each, number) for each, matters in looks.items() if matters)
    running = row["running"] if turns or changes else _NOTHING_READ
    tx.execute(_RUN, (running, TURNS_UNKNOWN if turns else ordered, *number))
    return turns if turns or changes else None


def begin_in_pieces(state: Database, row: Row, *, ordered: bool, anew: bool, turns: bool) -> None:
    """Gets the rows of a target ready; after a crash on the way the next run does it again."""
    looks = {_MAY_BE_CUT: row["running"], _RESTORE: turns, _ANEW: anew}
    for statement in (each for each, matters in looks.items() if matters):
        change_in_pieces(state, statement, row["id"])
    if turns and (ordered or row["ordered"]):
        _find_turns(state, row["id"], ordered=ordered)
    with state.write() as tx:
        tx.execute(_RUN, (_NOTHING_READ, ordered, row["id"]))


def _find_turns(state: Database, number: int, *, ordered: bool) -> None:
    change_in_pieces(state, _WITHOUT_TURNS, number)
    for statement in (_WITH_OBJECT, _WITH_TURN) if ordered else ():  # turns by the objects of all
        for events in read_open_events(state, number):
            with state.write() as tx:
                tx.many(statement, [(number, event) for event in events])


def change_in_pieces(state: Database, statement: str, number: int) -> None:
    """Runs an UPDATE of a target's rows again and again, until it finds none to change."""
    changed = PIECE_ROWS
    while changed == PIECE_ROWS:
        with state.write() as tx:
            changed = tx.execute(statement, (number, number, PIECE_ROWS))


def read_open_events(state: Database, number: int) -> Iterator[list[int]]:
    """Yields a target's open events in pieces; one that changes meanwhile may come twice."""
    after: tuple[object, ...] = (-1, 0.0, 0)
    while found := state.rows(_OPEN_EVENTS, (number, *after, PIECE_ROWS)):
        after = tuple(found[-1].values())
        yield [row["event"] for row in found]


_OPEN_EVENTS: Final = """
SELECT state, next_at, event FROM ledger INDEXED BY ledger_open
WHERE target = ? AND likely(state < 4) AND (state, next_at, event) > (?, ?, ?)
ORDER BY state, next_at, event LIMIT ?"""
PIECE: Final = """
UPDATE ledger SET {} WHERE target = ? AND event IN (
  SELECT event FROM ledger INDEXED BY ledger_{} WHERE target = ? AND {} LIMIT ?)"""
# The run before was killed: all that had come may have been under way, or, where it had read less,
# what it had read.
_CUT: Final = """
UPDATE targets SET
  cut = MAX(cut, MIN(IIF(running > 1, running - 2, 1 << 62),
    (SELECT COALESCE(MAX(seq), 0) FROM inbox)))
WHERE id = ?"""
PUT_OFF: Final = "state = 2 AND likely(state < 4) AND next_at > 0"
_ANEW: Final = PIECE.format("next_at = 0, ailing = 0", "open", PUT_OFF)
_IS_LEFT: Final = """
SELECT 1 FROM ledger INDEXED BY ledger_open
WHERE target = ? AND state = 3 AND likely(state < 4) LIMIT 1"""
_IS_PUT_OFF: Final = f"""
SELECT 1 FROM ledger INDEXED BY ledger_open WHERE target = ? AND {PUT_OFF} LIMIT 1"""  # noqa: S608
_RUN: Final = "UPDATE targets SET running = ?, ordered = ? WHERE id = ?"
# What waits for its turn is not sent: neither was it when a run was killed meanwhile.
IN_TURN: Final = f"next_at = IIF(state = 1, {NOT_CUT}, MIN(next_at, 0))"
_RESTORE: Final = PIECE.format("state = 2", "open", "state = 3 AND likely(state < 4)")
# A run was killed: what had its turn by then may have been sent.
_HAD_TURN: Final = "state = 2 AND likely(state < 4) AND next_at < 0"
_MAY_BE_CUT: Final = PIECE.format("next_at = 0", "open", _HAD_TURN)
_IS_NOT_CUT: Final = f"""
SELECT 1 FROM ledger INDEXED BY ledger_open WHERE target = ? AND {_HAD_TURN} LIMIT 1"""  # noqa: S608
_WITHOUT_TURNS: Final = PIECE.format(
    f"next_at = IIF(state = 1, {NOT_CUT}, next_at), state = IIF(state = 1, 2, state),"
    " object = NULL",
    "turns",
    "state < 3 AND object IS NOT NULL",
)
_WITH_OBJECT: Final = """
UPDATE ledger SET object = (SELECT NULLIF(object_id, '') FROM inbox WHERE seq = event)
WHERE target = ? AND event = ? AND state < 3"""
_WITH_TURN: Final = """
UPDATE ledger SET state = 1, next_at = 0, sent = sent + (
  next_at >= 0 AND event <= (SELECT cut FROM targets WHERE id = target))
WHERE target = ? AND event = ? AND state IN (0, 2) AND object IS NOT NULL AND EXISTS (
  SELECT 1 FROM ledger AS older INDEXED BY ledger_turns WHERE older.target = ledger.target
    AND older.object = ledger.object AND older.event < ledger.event
    AND older.state < 3 AND older.object IS NOT NULL)"""
