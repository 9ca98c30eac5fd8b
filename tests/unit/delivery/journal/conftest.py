"""What the tests of the journal share: one in a folder of the test's own, opened by many."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.clocks import ManualClock
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.sender_locks import SenderLocks
from svc.state import Database
from unit.delivery.journal.asking import Open


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "state.db"


@pytest.fixture
def opened(path: Path, clock: ManualClock) -> Iterator[Open]:
    """Opens the journal as one more process would."""
    states: list[Database] = []
    sender_locks: list[SenderLocks] = []

    def open_one() -> Journal:
        def state() -> Database:
            states.append(Database.open(path, clock=clock))
            return states[-1]

        sender_locks.append(SenderLocks(path.parent / "senders"))
        return Journal(state, sender_locks[-1], clock)

    yield open_one
    for one in states:
        one.close()
    for each in sender_locks:
        each.close()


@pytest.fixture
def intents(opened: Open) -> Journal:
    return opened()
