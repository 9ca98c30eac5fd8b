"""What the proofs share: a sandbox in memory, called over ASGI as fast as that goes, or by HTTP.

Its clock stands still, so that nothing happens by itself; `advance` moves it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proof.sandbox.calls import AsgiCalls, Socket


@pytest.fixture
def over_http(tmp_path: Path) -> Iterator[Socket]:
    """A sandbox process behind a real socket, on a clock that stands still after each reset."""
    made = Socket(tmp_path / "state")
    yield made
    made.close()


@pytest.fixture
def make_wire() -> Iterator[Any]:
    """Makes sandboxes and closes them."""
    made: list[AsgiCalls] = []

    def make(**options: Any) -> AsgiCalls:
        made.append(AsgiCalls(**options))
        return made[-1]

    yield make
    for wire in made:
        wire.close()
