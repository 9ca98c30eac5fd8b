"""What the tests of the store share: its tables are made by its own steps."""

import pytest

from support.suite import schemas
from svc.sandbox.store import sqlite


@pytest.fixture(autouse=True)
def own_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere a new database in memory is a copy of one."""
    monkeypatch.setattr(sqlite, "_set_up", schemas.set_up)
