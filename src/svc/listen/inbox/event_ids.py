"""The index of the inbox by event id; the ids of new rows are added to it by the thousand.

Ids of events are random: to add each at once would be one more page to write with nearly every
event. So a listener knows the ids of its latest rows in memory (`EventIds`), and once they are many
it adds all of them to the table `event_ids`.

To tell a duplicate from a new event, `sqlite` searches that table and asks `list_unlisted`; it
calls `list_now`. `history` finds an event by `ROWS_OF_EVENT`.
"""

from collections.abc import Collection, Sequence
from typing import Final

from svc.errors import LocalError
from svc.state import LOST, Database, NotSynced, Tx

LISTED_AT_ONCE: Final = 2048  # by then a page of the table takes several of them


class EventIds:
    """The event ids of one listener's rows that are not in the table yet."""

    def __init__(self, state: Database, listener: int, at_once: int = LISTED_AT_ONCE) -> None:
        self._state = state
        self._at_once = at_once
        self._due = at_once
        self._rows = 0
        # Rows that are not in the table, and perhaps some that are, or that were undone.
        self._unlisted: dict[str, list[int]] = {}
        for row in state.rows(_UNLISTED, (listener,)):
            self.note(row["event_id"], row["seq"])

    def note(self, event_id: str, seq: int) -> None:
        """Remembers the id of a new row; a rollback of that row does no harm."""
        self._unlisted.setdefault(event_id, []).append(seq)
        self._rows += 1

    def list_unlisted(self, ids: Collection[str]) -> list[int]:
        """Returns the remembered rows of these ids; one that was rolled back may be among them."""
        known = self._unlisted
        return [seq for event_id in ids if event_id in known for seq in known[event_id]]

    @property
    def are_many(self) -> bool:
        """Whether it is time for `list_now`, which takes a few milliseconds."""
        return self._rows >= self._due

    def list_now(self) -> None:
        """Adds the ids of all new rows to the table, of other listeners too; waits for no lock.

        If that fails, `are_many` is true again when as many more rows have come.

        Raises:
            NotSynced: the database did not reach the disk, and no later commit is safe.
            LocalError: the database was lost, such as by damage (`LOST`).
        """
        try:
            listed = self._state.write_at_once(_list)
        except LocalError as error:
            if isinstance(error, NotSynced) or error.code in LOST:
                raise
            listed = None  # it would save time, no more: a delivery is never refused for it
        if listed is None:
            self._due = self._rows + self._at_once
        else:  # once it is committed: what is in neither would be taken for new
            self._unlisted.clear()
            self._rows = 0
            self._due = self._at_once


def _list(tx: Tx) -> int:
    listed = tx.execute(_LIST)
    tx.execute(_BEGIN_ANEW)
    tx.execute(_LISTED)
    return listed


def forget(tx: Tx, rows: Sequence[tuple[str, int]]) -> None:
    """Removes rows (event id and number) from the table."""
    tx.many("DELETE FROM event_ids WHERE event_id = ? AND inbox_seq = ?", rows)


_END: Final = "(SELECT COALESCE(MAX(seq), 0) FROM event_ids_end)"
# The rows of one event, which is to be named twice. (A numbered mark is a warning in Python 3.12.)
ROWS_OF_EVENT: Final = f"""
SELECT inbox_seq FROM event_ids WHERE event_id = ? UNION ALL
SELECT seq FROM inbox WHERE seq > {_END} AND event_id = ?"""  # noqa: S608  no input in it
_UNLISTED: Final = f"SELECT event_id, seq FROM inbox WHERE listener = ? AND seq > {_END}"  # noqa: S608
_LIST: Final = f"""
INSERT INTO event_ids SELECT event_id, seq FROM inbox WHERE seq > {_END} ORDER BY event_id"""  # noqa: S608
_BEGIN_ANEW: Final = "DELETE FROM event_ids_end"
_LISTED: Final = "INSERT INTO event_ids_end SELECT MAX(seq) FROM inbox"
