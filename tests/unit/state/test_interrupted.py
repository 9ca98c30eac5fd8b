"""A signal at any place of a transaction: it is answered behind it (promise R133)."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from support.clocks import ManualClock
from support.kills.interrupting import sigterm_at
from svc.state import Database, Tx
from svc.system.signals import Stopped, watch

INSERT = (
    "INSERT INTO endpoints (origin, profile, mode, url, events, endpoint_id, created_at)"
    " VALUES ('https://api.example.com', 'default', 'test', ?, '', 'we_1', 0)"
)


def write(state: Database, url: str) -> None:
    with state.write() as tx:
        insert(tx, url)


def change(state: Database, url: str) -> None:
    state.change(lambda tx: insert(tx, url))


def write_at_once(state: Database, url: str) -> None:
    state.write_at_once(lambda tx: insert(tx, url))


def insert(tx: Tx, url: str) -> None:
    tx.execute(INSERT, (url,))


@pytest.mark.parametrize("way", [write, change, write_at_once])
def test_a_signal_at_any_place_leaves_it_whole(
    tmp_path: Path, way: Callable[[Database, str], None]
) -> None:
    """R68, R78: what has begun is ended, no lock stays taken, and then it is answered."""
    with Database.open(tmp_path / "state.db", clock=ManualClock()) as state:
        for place in count(1):
            came = interrupted(state, way, place)
            assert len(state.rows("SELECT * FROM endpoints")) == place
            if not came:
                break
    assert place > 10


def interrupted(state: Database, way: Callable[[Database, str], None], place: int) -> bool:
    """Writes a row; says whether the signal came meanwhile."""
    try:
        with watch(lambda _: None), sigterm_at(place, "state/") as interruption:
            way(state, str(place))
    except Stopped:
        assert interruption.raised is None
        return True
    return False
