"""What the engine's tests share: an engine on clocks that a test turns, and a webhook receiver."""

from pathlib import Path

import pytest

from unit.sandbox.lab import Kit, Lab, Receiver, status


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(str(tmp_path / "sandbox.db"))


@pytest.fixture
def kit() -> Kit:
    return Kit()


@pytest.fixture
def receiver(kit: Kit) -> Receiver:
    """A receiver that says 200 until told otherwise."""
    return Receiver([status(200)])
