"""What tests of whole listeners share: a world on a virtual clock."""

from collections.abc import Iterator

import pytest

from simulation.listener_world import ListenerWorld, in_memory


@pytest.fixture
def world() -> Iterator[ListenerWorld]:
    """Targets, senders and listeners of which nothing takes real time, but the real inbox."""
    state = in_memory()
    made = ListenerWorld(state)
    yield made
    made.close()
    state.close()
