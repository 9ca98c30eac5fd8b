"""What the mutator asks first about a change: the tests that have the name of its room."""

import pytest

from benchmarks.mutants import is_near


@pytest.mark.parametrize(
    ("test", "module", "near"),
    [
        ("tests/unit/listen/forward/test_pump.py::test_x", "listen/ingest.py", True),
        ("tests/unit/client/test_retry.py::test_x", "listen/ingest.py", False),
        ("tests/cli/keys/test_roll.py::test_x", "cli/keys/roll.py", True),
        ("tests/unit/cli/framework/test_app.py::test_x", "cli/keys/roll.py", True),
        ("tests/cli/keys/test_roll.py::test_x", "keys/store.py", False),
        ("tests/cli/requests/test_list.py::test_x", "cli/requests.py", True),
        ("tests/unit/test_money.py::test_x", "money.py", True),
        ("tests/unit/render/test_cells.py::test_x", "money.py", False),
    ],
)
def test_near_is_what_has_the_name_of_the_room(test: str, module: str, near: bool) -> None:
    assert is_near(test, module) is near
