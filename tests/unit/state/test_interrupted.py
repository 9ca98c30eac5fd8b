"""A signal at any place of a transaction: it is there whole or not at all, and the next one works."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from support.clocks import ManualClock
from support.kills.interrupting import SignalError, interrupted
from svc.state import Database, Tx

INSERT = (
    "INSERT INTO endpoints (origin, profile, mode, url, events, endpoint_id, created_at)"
    " VALUES ('https://api.example.com', 'default', 'test', ?, '', 'we_1', 0)"
)


def come() -> None:
    raise SignalError


def write(state: Database, urls: str) -> None:
    with state.write() as tx:
        insert(tx, urls)


def change(state: Database, urls: str) -> None:
    state.change(lambda tx: insert(tx, urls))


def write_at_once(state: Database, urls: str) -> None:
    state.write_at_once(lambda tx: insert(tx, urls))


def insert(tx: Tx, urls: str) -> None:
    for url in urls:
        tx.execute(INSERT, (url,))


def rows(state: Database) -> str:
    return "".join(row["url"] for row in state.rows("SELECT url FROM endpoints ORDER BY url"))


@pytest.fixture
def states(tmp_path: Path) -> Iterator[Callable[[], Database]]:
    opened: list[Database] = []

    def open_one() -> Database:
        path = tmp_path / str(len(opened)) / "state.db"
        opened.append(Database.open(path, clock=ManualClock()))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


@pytest.mark.parametrize("way", [write, change, write_at_once])
def test_a_signal_at_any_place_leaves_all_or_nothing(
    states: Callable[[], Database], way: Callable[[Database, str], None]
) -> None:
    """R68, R78: what it cuts off is undone, and holds nobody up once the signal is dealt with."""
    for place in count(1):
        state = states()
        try:
            with interrupted(place, come, "state/") as interruption:
                way(state, "ab")
        except SignalError:
            pass
        assert rows(state) in ("", "ab")
        state.change(lambda tx: insert(tx, "c"))
        assert rows(state) in ("c", "abc")
        if not interruption.came:
            break
    assert rows(state) == "abc"
    assert place > 10


@pytest.mark.parametrize("way", [change, write_at_once])
def test_what_is_written_while_a_signal_is_dealt_with_is_kept(
    states: Callable[[], Database], way: Callable[[Database, str], None]
) -> None:
    """R78: how a request ended is kept then; nothing may be left that stands in its way."""
    for place in count(1):
        state = states()
        try:
            with interrupted(place, come, "state/") as interruption:
                way(state, "ab")
        except SignalError:
            state.change(lambda tx: insert(tx, "c"))
            assert rows(state) in ("c", "abc")
        if not interruption.came:
            break
    assert place > 10
