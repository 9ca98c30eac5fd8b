"""Searches the whole inbox by type, state, target, object and text, a page at a time.

Each condition is part of one query. A text may stand in any payload, so a query goes over some
thousand rows at a time until the caller ends the search; a page that is not full then says where
the next one goes on, so that every delivery can be reached.

Only the inspector searches; `svc events listen --inspect` opens a `SearchableInbox` for it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from svc.listen.inbox.history import InboxEntry, InboxHistory, InboxScope, build_query, entry_from
from svc.listen.inbox.statements import ENDS

_ROWS_AT_ONCE: Final = 20_000
_BEHIND: Final = "SELECT received_at FROM inbox WHERE seq >= ? ORDER BY seq LIMIT 1"


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """The conditions of a search; an empty one does not narrow. `before` is a number of the inbox.

    `target` is a part of a target's address, `text` a part of anything that is shown of a delivery,
    both in upper or lower case; the others are whole values.
    """

    type: str = ""
    state: str = ""
    target: str = ""
    object: str = ""
    text: str = ""
    before: int | None = None


@dataclass(frozen=True, slots=True)
class FoundEntries:
    """Entries that fit, the newest first; `older` is where the next page begins, if there is one.

    `unfinished`: the time was over before the page was full.
    """

    entries: tuple[InboxEntry, ...]
    older: int | None
    unfinished: bool


class SearchableInbox(InboxHistory):
    """What listeners have kept, and a search in all of it."""

    def search(
        self,
        wanted: SearchFilter,
        count: int,
        is_over: Callable[[], bool] = lambda: False,
    ) -> FoundEntries:
        """Returns one page of at most `count` entries; blocks, and raises LocalError."""
        [row] = self._state.rows(ENDS)
        first, last = row["first"], row["last"]
        before = last + 1 if wanted.before is None else min(wanted.before, last + 1)
        found: list[InboxEntry] = []
        while before > first and len(found) <= count:
            after = before - _ROWS_AT_ONCE
            values = (*_values(self._whose, wanted), after, before, count + 1 - len(found))
            found += [entry_from(row) for row in self._state.rows(_SEARCH, values)]
            before = after
            if before > first and len(found) <= count and is_over():
                return FoundEntries(tuple(found[:count]), before, unfinished=True)
        older = found[count - 1].seq if len(found) > count else None
        return FoundEntries(tuple(found[:count]), older, unfinished=False)

    def shorten_timeout(self, seconds: float) -> None:
        """Waits from now on at most so long for other processes."""
        self._state.shorten_timeout(seconds)

    def find_received_behind(self, seq: int) -> float | None:
        """Returns when the first entry from the number `seq` on was received (unix seconds)."""
        found = self._state.rows(_BEHIND, (seq,))
        return found[0]["received_at"] if found else None


def _values(whose: InboxScope, wanted: SearchFilter) -> tuple[object, ...]:
    target, text = wanted.target.lower(), wanted.text.lower()
    return (
        *(whose.profile, whose.mode, whose.origin, whose.origin),
        *(wanted.type, wanted.type, wanted.object, wanted.object),
        *(wanted.state, wanted.state, target, target, target),
        *(text, *[text] * 7),
    )


# The state of an event, as `history` names it: that of the target where it is least far, else the
# highest; without targets what it was kept as.
_STATE: Final = """(
  SELECT CASE WHEN MIN(state) IS NULL
      THEN CASE COALESCE(i.outcome, 'unrouted') WHEN 'unrouted' THEN 'kept' ELSE i.outcome END
    WHEN MIN(state) < 4 THEN 'pending'
    ELSE CASE MAX(state) WHEN 4 THEN 'forwarded' WHEN 5 THEN 'failed' WHEN 6 THEN 'returned'
      ELSE 'reset' END END
  FROM targets CROSS JOIN ledger ON target = targets.id AND event = i.seq)"""
_SEARCH: Final = build_query(
    f"""AND (? = '' OR i.type = ?) AND (? = '' OR i.object_id = ?)
    AND (? = '' OR {_STATE} = ?)
    AND (? = ''
      OR EXISTS (SELECT 1 FROM targets CROSS JOIN ledger ON target = targets.id AND event = i.seq
        WHERE instr(lower(url), ?))
      OR EXISTS (SELECT 1 FROM forwards f WHERE f.inbox_seq = i.seq AND instr(lower(f.target), ?)))
    AND (? = ''
      OR instr(lower(i.event_id || ' ' || i.type || ' ' || i.object_id), ?)
      OR EXISTS (SELECT 1 FROM targets CROSS JOIN ledger ON target = targets.id AND event = i.seq
        WHERE instr(lower(url), ?) OR instr(lower(error), ?) OR CAST(last_status AS TEXT) = ?)
      OR EXISTS (SELECT 1 FROM forwards f WHERE f.inbox_seq = i.seq
        AND (instr(lower(f.error), ?) OR CAST(f.status AS TEXT) = ?))
      OR EXISTS (SELECT 1 FROM payloads p WHERE p.inbox_seq = i.seq
        AND instr(lower(CAST(p.body AS TEXT)), ?)))
    AND i.seq >= ? AND i.seq < ?"""  # noqa: S608  our own words
)
