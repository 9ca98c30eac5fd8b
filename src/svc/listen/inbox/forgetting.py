"""Deletes old events of the inbox: forwarded ones after 30 days, failed ones on demand (R125).

A listener does it as it goes on; `svc state compact` and `svc events prune` call it too.
"""

from itertools import takewhile
from typing import Final

from svc.clock import Clock
from svc.listen.inbox.event_ids import forget
from svc.listen.inbox.history import InboxScope
from svc.listen.inbox.ledger import forget_rows
from svc.state import Database, Row, Tx

KEEP_SECONDS: Final = 30 * 24 * 3600  # promise R50 asks for 72 h; a month lets people look back
_AT_ONCE: Final = 250  # so that no delivery waits for a month's worth to go
_PAUSE_SECONDS: Final = 0.01  # between pieces: another process that waits gets the database


def forget_forwarded(state: Database, now: float, after: int) -> tuple[int, int | None]:
    """Deletes events that were forwarded, or had no target, 30 days before `now` (unix seconds).

    Looks at some rows behind the seq `after`, of listeners too that do not run any more. Returns
    how many events were forgotten, and the last one looked at; None where no old ones follow.
    """
    since = now - KEEP_SECONDS
    with state.write() as tx:
        # Rows stand in the order of their arrival: the look ends at the first one that is young.
        rows = tx.rows(_NEXT, (after, _AT_ONCE))
        old = [*takewhile(lambda row: row["received_at"] < since, rows)]
        events = _forget(tx, [row for row in old if row["is_over"]])
    return events, old[-1]["seq"] if len(old) == _AT_ONCE else None


def forget_all_forwarded(state: Database, clock: Clock) -> int:
    """Deletes all events that are due, beside other writers; returns their number."""
    events: int = 0
    reached: int | None = 0
    while reached is not None:
        some, reached = forget_forwarded(state, clock.now(), reached)
        events += some
        clock.sleep(_PAUSE_SECONDS)
    return events


def forget_failed(state: Database, whose: InboxScope, before: float, clock: Clock) -> int:
    """Deletes failed events received before a moment (unix seconds); returns their number.

    An event that another target is still to get stays.
    """
    which = (*whose.values, before)
    forgotten = after = 0
    while found := state.rows(_FAILED, (*which, after, 1 << 62, _AT_ONCE)):
        last = found[-1]["seq"]
        with state.write() as tx:  # meanwhile a replay may have had some of them taken
            forgotten += _forget(tx, tx.rows(_FAILED, (*which, after, last, _AT_ONCE)))
        after = last
        clock.sleep(_PAUSE_SECONDS)
    return forgotten


def _forget(tx: Tx, rows: list[Row]) -> int:
    forget(tx, [(row["event_id"], row["seq"]) for row in rows])
    seqs = [(row["seq"],) for row in rows]
    forget_rows(tx, seqs)
    for table in ("payloads", "forwards"):
        tx.many(f"DELETE FROM {table} WHERE inbox_seq = ?", seqs)  # noqa: S608  our names
    return tx.many("DELETE FROM inbox WHERE seq = ?", seqs)


_NEXT: Final = """
SELECT seq, event_id, received_at, NOT EXISTS (
  SELECT 1 FROM targets CROSS JOIN ledger ON target = id AND event = seq
  WHERE state IN (0, 1, 2, 3, 5)) AS is_over
FROM inbox WHERE seq > ? ORDER BY seq LIMIT ?"""
_FAILED: Final = """
SELECT seq, event_id FROM ledger AS failed INDEXED BY ledger_failed
  CROSS JOIN inbox i ON seq = event JOIN listeners l ON l.id = i.listener
WHERE state > 4 AND state = 5
  AND l.profile = ? AND l.mode = ? AND (? IS NULL OR l.origin = ?) AND i.received_at < ?
  AND event > ? AND event <= ?
  AND NOT EXISTS (SELECT 1 FROM targets CROSS JOIN ledger AS others
    ON others.target = targets.id AND others.event = seq WHERE others.state < 4)
GROUP BY event ORDER BY event LIMIT ?"""
