"""A sandbox in memory whose webhooks are looked at, on a clock that stands still."""

from collections.abc import Iterator

import pytest

from unit.sandbox.faults.watched import WatchedSandbox


@pytest.fixture
def watched() -> Iterator[WatchedSandbox]:
    """A new one."""
    made = WatchedSandbox()
    yield made
    made.sandbox.close()
