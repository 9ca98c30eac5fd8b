"""Tests are dealt so that no worker has the long ones for itself."""

import pytest

from support.suite.dealing import dealt

LONG = [110, 90, 90, 60, 60, 60, 40, 40, 40, 20, 20, 15, 10, 8, 5, 5]


def pieces(tests: list[int], workers: int) -> list[list[int]]:
    """What `--dist worksteal` gives each worker to begin with."""
    left, found = list(tests), []
    for turn in range(workers):
        count = len(left) // (workers - turn)
        found.append(left[:count])
        del left[:count]
    return found


@pytest.mark.parametrize("workers", [1, 2, 3, 6])
def test_each_worker_begins_with_as_much_as_the_others(workers: int) -> None:
    """By what tests say that they take; the long ones first, and then what starts programs."""
    tests = [*(-n for n in range(50)), *LONG, *(-n for n in range(50, 100))]
    order = dealt(tests, workers, lambda one: max(one, 0), lambda one: one % 2 == 0)
    assert sorted(order) == sorted(tests)
    work = [sum(one for one in piece if one > 0) for piece in pieces(order, workers)]
    assert max(work) - min(work) <= 20
    for piece in pieces(order, workers):
        kinds = [0 if one > 0 else 1 + (one % 2 == 0) for one in piece]
        assert kinds == sorted(kinds)
        assert kinds[-1] == 2
        assert [one for one in piece if one > 0] == sorted(
            (one for one in piece if one > 0), reverse=True
        )


def test_what_is_dealt_in_few_is_dealt_all_the_same() -> None:
    """Some workers have one test then, or none."""
    for count in range(8):
        tests = LONG[:count]
        assert sorted(dealt(tests, 6, float, lambda _: True)) == sorted(tests)
