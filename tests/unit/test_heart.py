"""What the mutator changes is there, and so are the tests that it asks."""

import pytest

from benchmarks.mutants import HEART, SOURCE
from benchmarks.tree_copy import ROOT


@pytest.mark.parametrize("module", HEART)
def test_a_module_of_the_heart_is_there_and_so_are_its_tests(module: str) -> None:
    """Modules move: one that is not found any more would be changed by nobody."""
    assert (ROOT / SOURCE / module).is_file()
    for pattern in HEART[module]:
        assert list((ROOT / "tests").glob(pattern)), pattern
