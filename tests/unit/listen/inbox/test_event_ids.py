"""Ids of events that are listed by the thousand: never a delivery that is refused or taken twice."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.clocks import ManualClock
from support.listening import NOW, arrival, event
from svc.errors import LocalError
from svc.listen.inbox.event_ids import EventIds
from svc.listen.inbox.interfaces import Batch, StoreResult
from svc.listen.inbox.sqlite import SqliteInbox
from svc.state import Database

AT_ONCE = 2
UNLISTABLE = """
CREATE TRIGGER unlistable BEFORE INSERT ON event_ids BEGIN SELECT RAISE(FAIL, 'no room'); END"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "state.db"


@pytest.fixture
def state(path: Path) -> Iterator[Database]:
    with Database.open(path, clock=ManualClock(NOW)) as opened:
        yield opened


@pytest.fixture
def inbox(state: Database) -> SqliteInbox:
    return SqliteInbox(state, "one", listed_at_once=AT_ONCE)


def keep(inbox: SqliteInbox, *numbers: int) -> list[tuple[int, bool]]:
    """The row of each, and whether it was there before."""
    kept = inbox.store(Batch([arrival(event(number)) for number in numbers]))
    return [(one.seq, one.duplicate) for one in kept if isinstance(one, StoreResult)]


def listed(state: Database) -> int:
    return len(state.rows("SELECT 1 FROM event_ids"))


def test_ids_that_cannot_be_listed_cost_no_delivery(state: Database, inbox: SqliteInbox) -> None:
    """R50: they are known without the list, and listed when as many more have come."""
    with state.write() as tx:
        tx.execute(UNLISTABLE)
    assert keep(inbox, 1, 2) == [(1, False), (2, False)]
    with state.write() as tx:
        tx.execute("DROP TRIGGER unlistable")
    assert keep(inbox, 1, 2, 3) == [(1, True), (2, True), (3, False)]
    assert listed(state) == 0
    assert keep(inbox, 4, 3) == [(4, False), (3, True)]
    assert listed(state) == 4
    assert keep(inbox, 1, 2, 3, 4, 5) == [(seq, seq < 5) for seq in range(1, 6)]


def test_rows_of_one_event_are_many_as_well(state: Database, inbox: SqliteInbox) -> None:
    """A sandbox that is reset to its seed gives the same few ids for ever, to other events."""
    for amount in range(1, AT_ONCE + 1):
        inbox.store(Batch([arrival(event(1, amount=amount))]))
    assert listed(state) == AT_ONCE


def test_damage_that_listing_finds_is_told(path: Path, state: Database, inbox: SqliteInbox) -> None:
    """R67: the database is set aside, and with it what would be acknowledged."""
    [root] = state.rows("SELECT rootpage FROM sqlite_schema WHERE name = 'event_ids_end'")
    [page] = state.rows("PRAGMA page_size")
    with Database.open(path, clock=ManualClock(NOW)) as other:
        keep(SqliteInbox(other, "two"), 1)  # what `state` has read is old then
        other.empty_log()
    with path.open("r+b") as file:
        file.seek((root["rootpage"] - 1) * page["page_size"])
        file.write(b"\xff" * page["page_size"])
    keep(inbox, 1)
    with pytest.raises(LocalError, match="corrupt-1"):
        keep(inbox, 2)


def test_listing_waits_for_nobody(path: Path, state: Database) -> None:
    """R68: what holds the database up after a group is the next group's affair, not this one's."""
    ids = EventIds(state, 1, AT_ONCE)
    for number in (1, 2):
        ids.note(f"evt_{number}", number)
    with Database.open(path, clock=ManualClock(NOW)) as other, other.write():
        ids.list_now()
        later = not ids.are_many
    for number in (3, 4):
        ids.note(f"evt_{number}", number)
    assert (later, ids.are_many) == (True, True)
    assert ids.list_unlisted(["evt_1", "evt_5"]) == [1]
    ids.list_now()
    assert ids.list_unlisted(["evt_1", "evt_5"]) == []
    counted = []
    for number in range(5, 5 + AT_ONCE):
        ids.note(f"evt_{number}", number)
        counted.append(ids.are_many)
    assert counted == [False] * (AT_ONCE - 1) + [True]


def test_number_of_an_undone_row_is_another_events(state: Database, inbox: SqliteInbox) -> None:
    """R50: an event whose group was undone is new when it comes again, and no other is a copy."""
    broken = Batch([arrival(event(1))])
    with state.write() as tx:
        tx.execute(
            "CREATE TRIGGER broken AFTER INSERT ON payloads BEGIN SELECT RAISE(FAIL, ''); END"
        )
    assert isinstance(inbox.store(broken)[0], LocalError)
    with state.write() as tx:
        tx.execute("DROP TRIGGER broken")
    assert keep(inbox, 2) == [(1, False)]
    assert keep(inbox, 1) == [(2, False)]
    assert keep(inbox, 1, 2) == [(2, True), (1, True)]
