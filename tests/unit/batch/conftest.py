"""What the tests of a run share: workers on wires without a network, and a real journal."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from svc.clock import SystemClock
from svc.state import Database
from unit.batch.floor import Floor


@pytest.fixture
def floor(tmp_path: Path) -> Iterator[Floor]:
    """A list of refunds and everything that runs it."""
    folder = tmp_path / "floor"
    folder.mkdir()
    with Database.open(folder / "state" / "state.db", clock=SystemClock()) as state:
        made = Floor(folder, state)
        with closing(made.sender_locks):
            yield made
