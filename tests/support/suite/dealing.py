"""In which order tests begin: what takes long at once and beside each other, what is quick last.

`--dist worksteal` cuts the list into one piece for each worker, and who has nothing left takes the
end of another's. So the longest of all may not stand in one piece, or a worker has them for itself.
"""

from collections.abc import Callable, Sequence
from operator import itemgetter
from types import CodeType
from typing import Final, TypeVar

import pytest

from support.suite.patience import patient

Test = TypeVar("Test")
# Below these a test starts programs; elsewhere most take milliseconds, and end a run evenly.
STARTING: Final = ("acceptance", "process", "proof", "simulation", "cli")


def workers_of(config: pytest.Config) -> int:
    """How many share the tests; 1 where nobody does."""
    dealing = len(config.getoption("tx", None) or [""])
    return int(getattr(config, "workerinput", {}).get("workercount", dealing))


def seconds_of(item: pytest.Item) -> float:
    """How long a test takes on two quiet cores, as far as it says so."""
    mark = item.get_closest_marker("slow")
    return float(mark.kwargs.get("seconds", 0)) if mark else 0.0


def is_rare(item: pytest.Item) -> bool:
    """Whether a slow test runs by SVC_TEST_LONG=1 alone: the gate has fifteen minutes for all."""
    mark = item.get_closest_marker("slow")
    return mark is not None and bool(mark.kwargs.get("rare"))


def is_timed(item: pytest.Item) -> bool:
    """Whether a test holds a promise in seconds: it asks `patient` for them."""
    return isinstance(item, pytest.Function) and _names_patient(item.function.__code__)


def _names_patient(code: CodeType) -> bool:
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return patient.__name__ in code.co_names or any(map(_names_patient, inner))


def is_quick(item: pytest.Item) -> bool:
    """Whether a test starts nothing, by where it lies."""
    return item.nodeid.removeprefix("tests/").partition("/")[0] not in STARTING


def dealt(
    tests: Sequence[Test],
    workers: int,
    seconds: Callable[[Test], float],
    quick: Callable[[Test], bool],
) -> list[Test]:
    """The tests in pieces of the size that workers get, each with as much work as the others.

    Those that say how long they take go to whoever has least to do. The others stay together as
    they are, for what they share: first what starts programs, then what is quick.
    """
    sizes = [(len(tests) + turn) // workers for turn in range(workers)]
    pieces: list[list[Test]] = [[] for _ in sizes]
    took = [0.0] * workers
    timed = [(seconds(test), test) for test in tests]
    for long, test in sorted(timed, key=itemgetter(0), reverse=True):
        if not long:
            break
        room = (turn for turn in range(workers) if len(pieces[turn]) < sizes[turn])
        least = min(room, key=took.__getitem__)
        pieces[least].append(test)
        took[least] += long
    starting: list[Test] = []
    rest: list[Test] = []
    for long, test in timed:
        if not long:
            (rest if quick(test) else starting).append(test)
    for turn, piece in enumerate(pieces):
        share = -(-len(starting) // (workers - turn))
        _move(min(share, sizes[turn] - len(piece)), starting, piece)
    for size, piece in zip(sizes, pieces, strict=True):
        _move(size - len(piece), starting, piece)
        _move(size - len(piece), rest, piece)
    return [test for piece in pieces for test in piece]


def _move(count: int, source: list[Test], piece: list[Test]) -> None:
    piece.extend(source[:count])
    del source[:count]
