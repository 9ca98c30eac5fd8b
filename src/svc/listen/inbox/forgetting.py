"""Forgetting: what was forwarded goes after 30 days; what failed or is pending stays (R125)."""

from typing import Final

from svc.listen.inbox.event_ids import forget
from svc.listen.inbox.history import InboxScope
from svc.listen.inbox.ledger import forget_rows
from svc.state import Database, Row, Tx

KEEP_SECONDS: Final = 30 * 24 * 3600  # promise R50 asks for 72 h; a month lets people look back
_AT_ONCE: Final = 500  # so that no delivery waits for a month's worth to go


def forget_forwarded(state: Database, now: float) -> int:
    """Forgets some of what was forwarded, or was for no target, 30 days before `now`; how many.

    Those of listeners that do not run any more go as well. `now` is in unix seconds.
    """
    since = now - KEEP_SECONDS
    with state.write() as tx:
        return _forget(tx, tx.rows(_FORWARDED, (since, since, _AT_ONCE)))


def forget_failed(state: Database, whose: InboxScope, before: float) -> int:
    """Forgets what failed and was received before a moment (unix seconds); gives how many.

    What another target is still to get stays.
    """
    which = (whose.profile, whose.mode, whose.origin, whose.origin, before, _AT_ONCE)
    forgotten = 0
    while True:
        with state.write() as tx:
            some = _forget(tx, tx.rows(_FAILED, which))
        forgotten += some
        if some < _AT_ONCE:
            return forgotten


def _forget(tx: Tx, rows: list[Row]) -> int:
    forget(tx, [(row["event_id"], row["seq"]) for row in rows])
    seqs = [(row["seq"],) for row in rows]
    forget_rows(tx, seqs)
    for table in ("payloads", "forwards"):
        tx.many(f"DELETE FROM {table} WHERE inbox_seq = ?", seqs)  # noqa: S608  our names
    return tx.many("DELETE FROM inbox WHERE seq = ?", seqs)


# Rows stand in the order of their arrival: the look ends at the first one that is young enough.
_FORWARDED: Final = """
SELECT seq, event_id FROM inbox WHERE received_at < ?
  AND seq < COALESCE((SELECT seq FROM inbox WHERE received_at >= ? ORDER BY seq LIMIT 1), 1 << 62)
  AND NOT EXISTS (SELECT 1 FROM targets JOIN ledger ON target = id AND event = seq
    WHERE state IN (0, 1, 2, 3, 5))
ORDER BY seq LIMIT ?"""
_FAILED: Final = """
SELECT seq, event_id FROM inbox i JOIN listeners l ON l.id = i.listener
WHERE l.profile = ? AND l.mode = ? AND (? IS NULL OR l.origin = ?) AND i.received_at < ?
  AND seq IN (SELECT event FROM ledger WHERE state > 4 AND state = 5)
  AND NOT EXISTS (SELECT 1 FROM targets JOIN ledger ON target = targets.id AND event = seq
    WHERE state < 4)
ORDER BY seq LIMIT ?"""
