"""The set of events that have come, by type and object, with which an audit compares.

`svc events audit` fills a `ReceivedEvents` from the inbox or a team's log.
"""

from collections.abc import Iterable
from typing import Final

from svc.listen.inbox.history import InboxScope
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
