"""One object of every kind, as the sandbox answers them, and a way to print it."""

import copy
from typing import Any

import pytest

from unit.render.samples import KINDS, StringOutput


@pytest.fixture(name="printed")
def printed_fixture() -> type[StringOutput]:
    """Prints through a new Output: `printed("json", width=40).one(data)`."""
    return StringOutput


@pytest.fixture
def samples() -> dict[str, dict[str, Any]]:
    """One object of every kind, by a short name; each test has its own copy."""
    return copy.deepcopy(KINDS)
