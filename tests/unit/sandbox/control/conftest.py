"""A sandbox in memory whose webhooks are looked at, on a clock that stands still."""

from collections.abc import Iterator

import pytest

from unit.sandbox.control.lab import Lab


@pytest.fixture
def lab() -> Iterator[Lab]:
    """A new lab."""
    made = Lab()
    yield made
    made.sandbox.close()
