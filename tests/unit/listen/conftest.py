"""What tests of whole listeners share: a world on a virtual clock."""

from collections.abc import Iterator

import pytest

from simulation.listener_world import World, in_memory


@pytest.fixture
def world() -> Iterator[World]:
    """Targets, senders and listeners of which nothing takes real time, but the real inbox."""
    state = in_memory()
    made = World(state)
    yield made
    made.close()
    state.close()
