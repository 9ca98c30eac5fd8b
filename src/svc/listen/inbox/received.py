"""All that has come: the set of events by type and object, and the deliveries themselves.

`svc events audit` fills a `ReceivedEvents` from the inbox or a team's log and compares with it;
`svc events log refill` reads the deliveries of this machine's receivers by `copies`.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from svc.listen.inbox.history import InboxScope
from svc.listen.names import READER
from svc.listen.verify.verify import Delivery, read_facts
from svc.state import Database

# A temporary table lies in a file of its own beside the database: a million events need no memory,
# and no writer of the inbox waits for it.
_MAKE: Final = """
CREATE TEMP TABLE received (
  type TEXT NOT NULL,
  object_id TEXT NOT NULL,
  PRIMARY KEY (type, object_id)
) WITHOUT ROWID"""
_FILL: Final = """
INSERT OR IGNORE INTO received SELECT i.type, i.object_id
FROM inbox i JOIN listeners l ON l.id = i.listener
WHERE l.profile = ? AND l.mode = ? AND (? IS NULL OR l.origin = ?)"""
_ADD: Final = "INSERT OR IGNORE INTO received VALUES (?, ?)"
_HAS: Final = "SELECT 1 FROM received WHERE type = ? AND object_id = ?"
_COUNT: Final = "SELECT COUNT(*) AS events FROM received"


class ReceivedEvents:
    """The pairs of type and object that came, in a temporary table of one connection."""

    def __init__(self, state: Database) -> None:
        self._state = state
        state.rows(_MAKE)

    def add_inbox(self, whose: InboxScope) -> None:
        """Adds what the listeners of one profile, mode and origin have kept; raises LocalError."""
        self._state.rows(_FILL, whose.values)

    def add(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Adds pairs of event type and object id; raises LocalError."""
        for pair in pairs:
            self._state.rows(_ADD, pair)

    def has(self, event_type: str, object_id: str) -> bool:
        """Whether an event of this type has come for this object; raises LocalError."""
        return bool(self._state.rows(_HAS, (event_type, object_id)))

    def count(self) -> int:
        """How many pairs of type and object have come."""
        return int(self._state.rows(_COUNT)[0]["events"])


_COPIES_AT_ONCE: Final = 256
_COPIED_BYTES: Final = 8 * 1024 * 1024
# What listeners have read in a log is no copy of it; what was withheld belongs to another mode's
# log, if to any.
_COPIES = """
SELECT seq, received_at, headers, body FROM (
  SELECT i.seq, i.received_at, p.headers, p.body,
    SUM(LENGTH(p.body)) OVER (ORDER BY i.seq) - LENGTH(p.body) AS before
  FROM inbox i JOIN payloads p ON p.inbox_seq = i.seq JOIN listeners l ON l.id = i.listener
  WHERE l.origin = ? AND l.profile = ? AND l.mode = ? AND i.seq > ? AND i.received_at >= ?
    AND instr(l.scope, ?) = 0 AND i.outcome IS NOT 'withheld' AND i.outcome IS NOT 'reset'
    AND NOT EXISTS (SELECT 1 FROM targets t CROSS JOIN ledger ON target = t.id AND event = i.seq
      WHERE state = 7)
  ORDER BY i.seq LIMIT ?
) WHERE before < ? ORDER BY seq"""


def copies(
    state: Database, origin: str, profile: str, mode: str, since: float
) -> Iterator[Delivery]:
    """Yields what receivers of this machine kept from `since` (unix seconds) on, in order.

    Raises:
        LocalError: the state database cannot be used.
    """
    seq = 0
    whose, limits = (origin, profile, mode), (_COPIES_AT_ONCE, _COPIED_BYTES)
    while rows := state.rows(_COPIES, (*whose, seq, since, READER, *limits)):
        for row in rows:
            facts = read_facts(row["body"])
            yield Delivery(row["body"], row["headers"], row["received_at"], facts)
        seq = rows[-1]["seq"]
