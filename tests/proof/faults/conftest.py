"""What the fault tests share: a service that keeps a ledger, and a user's machine."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from proof.faults.bench import UserMachine
from proof.faults.ledger import Ledger
from support.forks.program import Forking


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    """A service that counts what it carries out."""
    made = Ledger()
    yield made
    made.stop()


@pytest.fixture
def machine(ledger: Ledger, tmp_path: Path, forking: Forking) -> UserMachine:
    """A user with a home of its own and a key for the ledger."""
    home = tmp_path / "machine"
    home.mkdir(mode=0o700)
    return UserMachine(home, ledger, forking)
