"""A signal at any step of a run: what is said of the money is what has become of it (R78, R16)."""

import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from support.kills.interrupting import closed_at_the_end, not_cut_off
from svc.batch import results, run, tally, workers
from svc.clock import SystemClock
from svc.delivery import rows
from svc.state import Database
from svc.system.signals import Stopped, watch
from unit.batch.floor import Floor

WATCHED = frozenset(str(module.__file__) for module in (rows, results, run, tally, workers))
AMOUNTS: list[int | str] = [5, 70, "bad", 900]
GOOD = {1: 5, 2: 70, 4: 900}


@contextmanager
def signal_before(step: int) -> Iterator[Callable[[], bool]]:
    """Lets one come before the step of that number of this thread in a module of a batch."""
    steps = count(1)
    came = False

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal came
        if came or frame.f_code.co_filename not in WATCHED:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and next(steps) == step:
            came = True
            signal.raise_signal(signal.SIGTERM)
        return trace

    before = sys.gettrace()
    sys._getframe().f_trace_opcodes = True  # Python 3.12 asks when tracing begins, and not later
    sys.settrace(trace)
    try:
        yield lambda: came
    finally:
        sys.settrace(before)


def interrupted(floor: Floor, step: int) -> bool:
    """Runs the list with a signal at a step; says whether it has come by then."""
    has_come = None
    try:
        with not_cut_off(), watch(lambda _: None), signal_before(step) as has_come:
            floor.run(AMOUNTS, size=2)
    except Stopped:
        assert has_come is not None
    return has_come is not None and has_come()


def check(floor: Floor) -> None:
    """What the file and the summary say, against what the service has made."""
    lines = {line["row"]: line for line in floor.results}
    assert list(lines) == [1, 2, 3, 4] == [line["row"] for line in floor.results]
    made = set(floor.service.made)
    said = Counter(line["outcome"] for line in lines.values())
    for line in lines.values():
        if line["idempotency_key"] in made:
            assert line["outcome"] in ("done", "unknown")
        else:
            assert line["outcome"] != "done"
    totals = floor.last.totals
    assert totals.counts == said
    done = [GOOD[row] for row, line in lines.items() if line["outcome"] == "done"]
    assert totals.money.amounts["EUR"] == sum(done)
    assert totals.money.rows["EUR"] == len(done)
    assert totals.wrong == len(totals.problems) == sum(bool(one["error"]) for one in lines.values())


def is_over(floor: Floor, step: int) -> bool:
    """Interrupts a run at a step and runs the list again; true when it had ended before that."""
    if not interrupted(floor, step):
        return True
    if floor.path.exists():  # else it came before anything was begun
        check(floor)
    assert not list(floor.folder.glob(".*.part"))
    floor.run(AMOUNTS, size=2)
    assert floor.outcomes == ["done", "done", "invalid", "done"]
    assert len(floor.service.made) == len(GOOD)
    return False


@pytest.mark.parametrize(
    ("first", "stride"),
    [(37, 293), pytest.param(1, 61, marks=pytest.mark.slow(seconds=30))],
)
def test_a_signal_at_any_step_leaves_the_truth(tmp_path: Path, first: int, stride: int) -> None:
    """R78: every row has one line, the summary counts them, and the next run does the rest."""
    with closed_at_the_end():
        for step in count(first, stride):
            folder = tmp_path / str(step)
            folder.mkdir()
            with Database.open(folder / "state" / "state.db", clock=SystemClock()) as state:
                if is_over(Floor(folder, state), step):
                    break
    assert step > 1000
