"""What the tests of plans share."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from support.clocks import ManualClock
from svc.delivery.journal.sender_locks import SenderLocks
from svc.state import Database
from unit.delivery.rows import Desk


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def desk(tmp_path: Path, clock: ManualClock) -> Iterator[Desk]:
    with (
        Database.open(tmp_path / "state" / "state.db", clock=clock) as state,
        closing(SenderLocks(tmp_path / "state" / "senders")) as sender_locks,
    ):
        yield Desk(state, sender_locks, clock)
