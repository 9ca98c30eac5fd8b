"""A computer on virtual time: processes that take turns, sleep, are signalled and are killed.

Every thread of every process is a greenlet. One runs at a time, and who is next is drawn from the
seed, so that a history is the same in any process of ours. A killed process is left where it
stands: nothing after that point runs until the history has been judged.
"""

import os
import random
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, Final

from greenlet import getcurrent, greenlet

from svc.system.signals import Stopped

_EPOCH: Final = 1_790_000_000.0
_FOREVER: Final = float("inf")
_SWITCH: Final = 0.35  # how often another one goes on at a step where it could
SIGINT: Final = 2


class ProcessGone(BaseException):
    """Unwinds what is left of a killed process, once the history has been judged."""


class StuckError(Exception):
    """Nobody can go on: a deadlock."""


@dataclass(eq=False, slots=True)
class Process:
    """One run of the program.

    Attributes:
        dies_at, stops_at: the step at which it is killed, or gets a signal; 0 for never.
        disk_fails_at: the write from which on its disk is full; 0 for never.
        disk_fails: how many writes fail then.
        handles: files whose lock it holds.
        code: how it ended; None while it runs, or where it was killed.
        ended_at: how many lines the history had when it ended.
        results: the results file of a batch as it left it.
    """

    name: str
    account: str
    dies_at: int = 0
    stops_at: int = 0
    disk_fails_at: int = 0
    disk_fails: int = 1
    sync_fails_at: int = 0
    steps: int = 0
    writes: int = 0
    dead: bool = False
    new_request: bool = False
    tasks: "list[SimTask]" = field(default_factory=list)
    connections: list[sqlite3.Connection] = field(default_factory=list)
    handles: set[int] = field(default_factory=set)
    posted: set[str] = field(default_factory=set)
    out: StringIO = field(default_factory=StringIO)
    err: StringIO = field(default_factory=StringIO)
    code: int | None = None
    ended_at: int = 0
    results: str = ""
    bug: BaseException | None = None


@dataclass(eq=False, slots=True)
class SimTask:
    """A thread of a process; `wake` is when it goes on, in seconds of virtual time."""

    process: Process
    green: greenlet
    wake: float
    over: bool = False


class Machine:
    """Runs processes on a clock of its own.

    Attributes:
        now: seconds of true time; `offset` is how far the machine's wall clock is beside it.
        random: what the current step of the history draws from.
    """

    def __init__(self, seed: int) -> None:
        self.now = 0.0
        self.offset = 0.0
        self.random = random.Random(seed)
        self.names = random.Random(~seed)
        self.task: SimTask | None = None
        self.trace: list[tuple[object, ...]] = []
        self._tasks: list[SimTask] = []
        self._left: list[SimTask] = []
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._sent = 0
        self._hub = getcurrent()

    # --- for the histories ---

    def start(self, process: Process, work: Callable[[], int], *, after: float = 0.0) -> None:
        """Has a process begin so many seconds from now."""

        def main() -> None:
            try:
                process.code = work()
            except ProcessGone:
                raise
            except BaseException as bug:  # noqa: BLE001  the boundary of the program let it through
                process.bug = bug
            if not process.dead:
                self._end(process)

        self.spawn(process, main, after=after)

    def run(self) -> None:
        """Lets all processes run until none is left."""
        while self._tasks:
            self._next()

    def settle(self) -> None:
        """Lets everything that is still on its way arrive."""
        while self._due:
            self.now = max(self.now, min(self._due)[0])
            self._inbound_events()

    def wait(self, seconds: float) -> None:
        """Lets time pass while nothing runs; what is due meanwhile comes when it is due."""
        until = self.now + seconds
        while self._due and min(self._due)[0] <= until:
            self.now = max(self.now, min(self._due)[0])
            self._inbound_events()
        self.now = until

    def bury(self) -> None:
        """Unwinds the killed processes."""
        for task in self._left:
            if task.green:  # begun and not over
                self.task = task
                task.green.throw(ProcessGone)
        self.task = None
        self._left.clear()

    def later(self, seconds: float, do: Callable[[], None]) -> None:
        """Has something happen so many seconds from now, whoever runs then."""
        self._sent += 1
        self._due.append((self.now + seconds, self._sent, do))

    def note(self, *facts: object) -> None:
        """Adds a line to the history."""
        self.trace.append((round(self.now, 3), self.task.process.name if self.task else "", *facts))

    # --- for what stands in for the system ---

    def spawn(self, process: Process, work: Callable[[], None], *, after: float = 0.0) -> SimTask:
        """Adds a thread to a process."""

        def body() -> None:
            try:
                work()
            except ProcessGone:
                pass
            finally:
                task.over = True
                if task in self._tasks:
                    self._tasks.remove(task)

        task = SimTask(process, greenlet(body, self._hub), self.now + after)
        process.tasks.append(task)
        self._tasks.append(task)
        return task

    @property
    def process(self) -> Process:
        """The process that runs now."""
        assert self.task is not None
        return self.task.process

    def step(self, what: str, *, yields: bool = True) -> None:
        """A point at which a process can be killed, be signalled, or lose its turn."""
        task = self.task
        if task is None:
            return
        process = task.process
        if process.dead:
            raise ProcessGone
        process.steps += 1
        if process.steps == process.dies_at:
            self.note("killed", what)
            self._kill(process)
        if process.stops_at and process.steps >= process.stops_at and task is process.tasks[0]:
            process.stops_at = 0
            self.note("interrupted", what)
            raise Stopped(SIGINT)
        if yields and len(self._tasks) > 1 and self.random.random() < _SWITCH:
            self.pause(0)

    def pause(self, seconds: float) -> None:
        """Lets a thread sleep."""
        task = self.task
        if task is None:  # nothing runs: a look of the history's own
            self.wait(seconds)
            return
        if task.process.dead:
            raise ProcessGone
        if len(self._tasks) == 1:
            self.wait(seconds)
            return
        task.wake = self.now + seconds
        self._hub.switch()
        if task.process.dead:
            raise ProcessGone

    def block(self, seconds: float | None, ready: Callable[[], bool]) -> bool:
        """Lets a thread wait until something is so, at most so many seconds."""
        task = self.task
        assert task is not None
        until = _FOREVER if seconds is None else self.now + seconds
        while not ready():
            if task.process.dead:
                raise ProcessGone
            if self.now >= until:
                return False
            task.wake = until
            self._hub.switch()
        return True

    def rouse(self, process: Process) -> None:
        """Has the threads of a process look again whether they may go on."""
        for task in process.tasks:
            if task is not self.task and not task.over:
                task.wake = min(task.wake, self.now)

    # --- inside ---

    def _next(self) -> None:
        soonest = min(task.wake for task in self._tasks)
        if self._due and min(self._due)[0] <= soonest:
            soonest = min(self._due)[0]
            self.now = max(self.now, soonest)
            self._inbound_events()
            return
        if soonest == _FOREVER:
            raise StuckError
        self.now = max(self.now, soonest)
        ready = [task for task in self._tasks if task.wake <= self.now]
        task = ready[0] if len(ready) == 1 else self.random.choice(ready)
        self.task = task
        task.green.switch()
        self.task = None

    def _inbound_events(self) -> None:
        while self._due:
            first = min(self._due)
            if first[0] > self.now:
                return
            self._due.remove(first)
            first[2]()

    def _kill(self, process: Process) -> None:
        process.dead = True
        self._left += [task for task in process.tasks if not task.over]
        self._end(process)
        self._hub.switch()
        raise ProcessGone

    def _end(self, process: Process) -> None:
        """What the system does for a process that is no more."""
        self._left += [task for task in process.tasks if not (task.over or task in self._left)]
        self._tasks = [task for task in self._tasks if task.process is not process]
        process.dead = True
        process.ended_at = len(self.trace)
        for connection in list(process.connections):
            connection.close()
        for handle in process.handles:
            os.close(handle)
        process.handles.clear()


class WallClock:
    """The clocks of the machine, as the program sees them."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def now(self) -> float:
        return _EPOCH + self._machine.now + self._machine.offset

    def monotonic(self) -> float:
        return self._machine.now

    def sleep(self, seconds: float) -> None:
        self._machine.step("sleep")
        self._machine.pause(seconds)


class Thread:
    """Stands in for `threading.Thread`."""

    machine: Any = None

    def __init__(self, target: Callable[[], None], daemon: bool) -> None:
        self._target = target
        self._task: SimTask | None = None

    def start(self) -> None:
        self._task = self.machine.spawn(self.machine.process, self._run)

    def _run(self) -> None:
        process = self.machine.process
        try:
            self._target()
        except ProcessGone:
            return
        if self._task is not None:
            self._task.over = True
        self.machine.rouse(process)

    def join(self, seconds: float | None = None) -> None:
        task = self._task
        assert task is not None
        self.machine.block(seconds, lambda: task.over)
