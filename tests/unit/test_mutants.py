"""What the mutator asks about a change: near tests first, and at last those that the README names."""

from pathlib import Path

import pytest

from benchmarks.mutants import SOURCE, is_near, read_second_sets, rooms_of
from benchmarks.tree_copy import ROOT


def test_each_room_has_tests_that_are_run_second() -> None:
    """They see what processes do, which no measurement of reached lines shows."""
    sets = read_second_sets((ROOT / "tests/README.md").read_text(encoding="utf-8"))
    rooms = {path.parent.name for path in (ROOT / SOURCE).glob("*/__init__.py")}
    assert set(sets) == rooms
    for test in (test for tests in sets.values() for test in tests):
        assert Path(ROOT, test).exists(), test


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


@pytest.mark.parametrize(
    ("module", "rooms"),
    [
        ("cli/events/from_log.py", ["cli", "listen"]),
        ("cli/keys/roll.py", ["cli", "keys"]),
        ("cli/requests.py", ["cli", "requests"]),
        ("listen/log/group.py", ["listen"]),
        ("money.py", ["money"]),
    ],
)
def test_a_command_is_held_by_the_tests_of_what_it_drives_as_well(
    module: str, rooms: list[str]
) -> None:
    assert rooms_of(module) == rooms
