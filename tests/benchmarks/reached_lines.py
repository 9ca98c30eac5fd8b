"""Which tests reach which lines of the program, in all of its processes: what `mutants.py` asks.

Each process that an interpreter of the copy starts calls `begin` first (a `.pth` beside this file has
it do so), and marks what it runs in a table that all of them share as memory, so that forks and killed
ones count as well: a row a test, a column a drawn module or line. In pytest this is a plugin, too: it
says which test runs now, and how long each took.

PYTEST_DONT_REWRITE: it is imported before pytest.
"""

import sys
import threading
from collections import defaultdict
from mmap import mmap
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

_SOURCE: Final = "/src/svc/"
_ROWS: Final = 1 << 15
_HEAD: Final = 8  # where the row of now begins


class Reach:
    """What this process marks, and of pytest's also which tests there were."""

    def __init__(self, folder: str) -> None:
        self._columns = Path(folder, "columns").read_text(encoding="utf-8").split("\n")
        with Path(folder, "table").open("r+b") as file:
            self._table = memoryview(mmap(file.fileno(), 0))
        self._now = self._table[:_HEAD].cast("Q")
        self._lines: dict[str, dict[int, int]] = defaultdict(dict)  # column 0 is of the module
        for number, column in enumerate(self._columns):
            module, _, line = column.partition(":")
            self._lines[module][int(line or 0)] = number
        # Kept with the code, since another could get its number.
        self._codes: dict[int, tuple[CodeType, dict[int, int], bool]] = {}
        self._tests = [""]
        self.failed: set[str] = set()  # without any change, so they say nothing of one
        self.seconds: dict[str, float] = defaultdict(float)

    def trace(self, frame: FrameType, _event: str, _: Any) -> Any:
        """Called for each call of a function; follows the lines of those with a drawn one."""
        code = frame.f_code
        known = self._codes.get(id(code))
        if known is None:
            _, found, module = code.co_filename.rpartition(_SOURCE)
            lines = self._lines[module] if found else {}
            has_drawn = any(line in lines for *_, line in code.co_lines() if line)
            known = self._codes[id(code)] = code, lines, has_drawn
        _, lines, has_drawn = known
        if lines:
            self._table[self._now[0] + lines[0]] = 1
        return self._trace_lines if has_drawn else None

    def _trace_lines(self, frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            column = self._codes[id(frame.f_code)][1].get(frame.f_lineno)
            if column is not None:
                self._table[self._now[0] + column] = 1
        return self._trace_lines

    def begin_test(self, test: str) -> None:
        """Everything that is run from here on, wherever, belongs to this test."""
        self._tests.append(test)
        self._now[0] = _row(len(self._tests) - 1, len(self._columns))
        sys.settrace(self.trace)  # anew: a test whose stack overflows ends it

    def tell(self) -> dict[str, list[str]]:
        """The tests that reach each column; all of a file reach what its import does."""
        files: dict[str, list[str]] = defaultdict(list)
        for test in self._tests:
            if "::" in test and test not in self.failed:
                files[test.partition("::")[0]].append(test)
        told: dict[str, list[str]] = {column: [] for column in self._columns}
        for number, test in enumerate(self._tests):
            begin = _row(number, len(self._columns))
            marks = self._table[begin : begin + len(self._columns)]
            reaching = files[test] if "::" not in test else [test]
            if test not in self.failed:
                for column, mark in zip(self._columns, marks, strict=True):
                    if mark:
                        told[column] += reaching
        return {column: [*dict.fromkeys(tests)] for column, tests in told.items()}


def _row(number: int, columns: int) -> int:
    return _HEAD + number * columns


_reach: list[Reach] = []


def lay_out(folder: Path, columns: list[str]) -> None:
    """Makes the empty table; each module has a column, and each of its drawn lines."""
    (folder / "columns").write_text("\n".join(columns), encoding="utf-8")
    with (folder / "table").open("wb") as file:
        file.truncate(_row(_ROWS, len(columns)))
        file.seek(0)
        file.write(_HEAD.to_bytes(_HEAD, sys.byteorder))
    (folder / "table").chmod(0o666)  # some tests run the program as another user


def begin(folder: str) -> None:
    """Has this process, all its threads and forks mark what they run."""
    _reach.append(Reach(folder))
    threading.settrace(_reach[0].trace)
    sys.settrace(_reach[0].trace)


def pytest_collectstart(collector: Any) -> None:
    """What a file of tests makes when it is imported is of all of its tests."""
    if collector.nodeid.endswith(".py"):
        _reach[0].begin_test(collector.nodeid)


def pytest_runtest_protocol(item: Any, nextitem: Any) -> None:
    del nextitem
    _reach[0].begin_test(item.nodeid)


def pytest_runtest_logreport(report: Any) -> None:
    _reach[0].seconds[report.nodeid] += report.duration
    if report.failed:
        _reach[0].failed.add(report.nodeid)


def pytest_sessionfinish(session: Any) -> None:
    import json  # here: every other process would load it as well

    sys.settrace(None)
    told = {"lines": _reach[0].tell(), "seconds": _reach[0].seconds}
    session.config.rootpath.joinpath("reached.json").write_text(json.dumps(told), encoding="utf-8")
