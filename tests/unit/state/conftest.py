"""What the tests of the state database share: it is made by its own steps."""

import pytest

from support.suite import schemas
from svc.state import opening


@pytest.fixture(autouse=True)
def own_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere a new database is a copy of one."""
    monkeypatch.setattr(opening, "_migrate", schemas.migrate)
