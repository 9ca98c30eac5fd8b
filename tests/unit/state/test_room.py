"""What takes the room of the state database, and giving it back beside others who write."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from support.clocks import ManualClock
from svc.errors import LocalError
from svc.state import Database
from svc.state.room import StateRoom, can_return_pages, kinds_of, rebuild, return_pages, room_of

ADD = "INSERT INTO payloads (headers, body) VALUES (x'', zeroblob(3000))"
EVENTS = 1_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "state.db"


@pytest.fixture
def state(path: Path) -> Iterator[Database]:
    """A database of which three quarters were forgotten, the young ones at the end left."""
    with Database.open(path, clock=ManualClock()) as opened:
        with opened.write() as tx:
            tx.many(ADD, [()] * EVENTS)
        with opened.write() as tx:
            tx.execute("DELETE FROM payloads WHERE inbox_seq % 4")
        yield opened


class ListenerClock(ManualClock):
    """A clock of which every sleep is a listener's turn: it writes at once, on its own connection."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.listener = Database.open(path, clock=self)
        self.turns = 0

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        assert self.listener.write_at_once(lambda tx: tx.execute(ADD)) == 1
        self.turns += 1


def test_free_room_goes_back_in_pieces_between_which_a_listener_writes(
    state: Database, path: Path
) -> None:
    """The file ends small, nothing that was kept is lost, and no write had to wait."""
    before = room_of(state, path)
    assert before.free > before.size / 2
    clock = ListenerClock(path)
    with closing(clock.listener):
        return_pages(state, clock)
    assert clock.turns >= 3
    kept = state.rows("SELECT count(*) AS n, sum(length(body)) AS bytes FROM payloads")
    assert kept == [{"n": EVENTS // 4 + clock.turns, "bytes": 3000 * (EVENTS // 4 + clock.turns)}]
    assert state.rows("PRAGMA integrity_check(1)") == [{"integrity_check": "ok"}]
    after = room_of(state, path)
    assert after.free < before.free / 10
    assert path.stat().st_size == after.size < before.size / 2


def test_a_file_of_an_older_form_is_written_anew_once_while_it_is_used_by_no_other(
    state: Database, path: Path
) -> None:
    """Beside another process it says so and does nothing; afterwards pages go back one by one."""
    state.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as older:
        older.execute("PRAGMA auto_vacuum = NONE")
        older.execute("VACUUM")
    clock = ManualClock()
    with Database.open(path, clock=clock) as user:
        assert not can_return_pages(user)
        with pytest.raises(LocalError, match="only while no other") as refused:
            rebuild(path)
        assert refused.value.code == "state_in_use"
        with user.write() as tx:
            tx.execute("DELETE FROM payloads")
    size = path.stat().st_size
    with pytest.raises(LocalError, match="cannot be used: it cannot be opened"):
        rebuild(path.with_name("none.db"))
    rebuild(path)
    assert path.stat().st_size < size / 2
    with Database.open(path, clock=clock) as user:
        assert can_return_pages(user)


def test_what_takes_the_room_is_told_by_kinds(state: Database) -> None:
    """Every table belongs to one kind, and together they are the file but for what is free."""
    kinds = {one["name"]: one["bytes"] or 0 for one in kinds_of(state)}
    assert next(iter(kinds)) == "events"
    assert kinds["events"] > 3000 * EVENTS / 4
    pages = "SELECT sum(pgsize) AS bytes FROM dbstat JOIN sqlite_master USING (name)"
    [every] = state.rows(f"{pages} WHERE aggregate = TRUE AND tbl_name <> 'sqlite_sequence'")
    assert sum(kinds.values()) == every["bytes"]


@pytest.mark.parametrize(
    ("size", "free", "is_worth"),
    [(2**31, 2**29, True), (2**31, 2**28, False), (2**26, 2**25, False), (2**27, 2**26, True)],
)
def test_compacting_is_worth_it_where_much_of_a_large_file_is_free(
    size: int, free: int, is_worth: bool
) -> None:
    """A quarter of it, and no small one: what is free is used by what comes next."""
    assert StateRoom(size, free, 0).is_worth_compacting == is_worth
