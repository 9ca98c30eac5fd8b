"""Puts the machine of a history in the place of the system, for as long as a block lasts.

Replaced are: randomness, SQLite's connections (no files, and steps at which they fail), sockets, the worker threads of a batch, and the parsing of the command line, which is not what is
tried here and takes longer than all the rest. The state database lies in memory, under SQLite's
own file system for that: it has the same locks and transactions, and takes no system calls.
"""

import os
import queue
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, ClassVar, Final

import svc.cli.main as cli
from simulation.machine import Machine, Process, Thread
from simulation.network import Network, NetworkWire
from svc.batch import workers
from svc.client.wire import sockets
from svc.state import database
from svc.system import locks, memory, signals, uptime
from svc.system.uptime import Uptime

_WRITES: Final = ("I", "U", "D")  # INSERT, UPDATE, DELETE
_DATABASE: Final = "file:/{}?vfs=memdb"  # a machine's, by its state folder
_real_connect = sqlite3.connect
_real_take = locks.take
_real_remove = locks.close_and_remove


class Stage:
    """What is on: the machine and the network of the history that is played now.

    Attributes:
        writes: how many statements there were that can have changed the database.
    """

    def __init__(self) -> None:
        self.machine = Machine(0)
        self.network: Network | None = None
        self.writes = 0
        self.commands: dict[str, Callable[[Any], None]] = {}

    def random(self, size: int) -> bytes:
        """Bytes of the history that is played now."""
        return self.machine.names.randbytes(size)


class SimConnection(sqlite3.Connection):
    """A connection of the program; writes are steps, and may fail.

    It is used again by another process once its own has ended: to read the schema anew takes longer
    than all that a process does with it.
    """

    stage: Stage
    idle: ClassVar["list[SimConnection]"] = []
    of: str = ""
    owner: Process | None = None

    def close(self) -> None:
        """Ends whatever was begun, as the system does for a process that is no more."""
        if self not in self.idle:
            if self.in_transaction:
                self.rollback()
            if self.owner is not None:
                self.owner.connections.remove(self)
            self.owner = None
            self.idle.append(self)

    def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
        first = sql.lstrip()[:1]
        if first == "C" and sql == "COMMIT":
            return self._commit()
        if first == "P" and "=" in sql:
            return self.cursor()  # nothing to sync; and each would have every statement read anew
        if sql == "BEGIN IMMEDIATE":
            self.stage.machine.step("begin")
        elif first in _WRITES:
            self._write()
        return super().execute(sql, *args)

    def executemany(self, sql: str, *args: Any) -> sqlite3.Cursor:
        self._write()
        return super().executemany(sql, *args)

    def _write(self) -> None:
        self.stage.writes += 1
        # Nobody else gets a turn inside a transaction: they could only wait for its end.
        self.stage.machine.step("write", yields=False)
        process = self.stage.machine.process
        process.writes += 1
        at = process.disk_fails_at
        if at and at <= process.writes < at + process.disk_fails:
            self.stage.machine.note("disk full")
            raise _error("database or disk is full", sqlite3.SQLITE_FULL)

    def _commit(self) -> sqlite3.Cursor:
        machine = self.stage.machine
        machine.step("before commit", yields=False)
        process = machine.process
        process.writes += 1
        at = process.disk_fails_at
        if at and at <= process.writes < at + process.disk_fails:
            machine.note("disk fails at commit")
            raise _error("disk I/O error", sqlite3.SQLITE_IOERR)
        self.stage.writes += 1
        cursor = super().execute("COMMIT")
        if process.writes == process.sync_fails_at:
            machine.note("disk fails after commit")
            raise _error("disk I/O error", sqlite3.SQLITE_IOERR)
        machine.step("after commit")
        return cursor


class SimQueue:
    """Stands in for `queue.SimpleQueue` between the threads of one process."""

    machine: Any = None

    def __init__(self) -> None:
        self._items: deque[Any] = deque()

    def put(self, item: Any) -> None:
        self._items.append(item)
        self.machine.rouse(self.machine.process)

    def get(self, timeout: float | None = None) -> Any:
        self.machine.step("take")
        if not self.machine.block(timeout, lambda: bool(self._items)):
            raise queue.Empty
        return self._items.popleft()

    def get_nowait(self) -> Any:
        if not self._items:
            raise queue.Empty
        return self._items.popleft()


class Flag:
    """Stands in for `threading.Event` between the threads of one process."""

    machine: Any = None

    def __init__(self) -> None:
        self._is_set = False

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        self._is_set = True
        self.machine.rouse(self.machine.process)

    def clear(self) -> None:
        self._is_set = False

    def wait(self, timeout: float | None = None) -> bool:
        self.machine.step("wait")
        return bool(self.machine.block(timeout, self.is_set))


@contextmanager
def staged() -> Iterator[Stage]:
    """Puts the stand-ins in place."""
    stage = Stage()
    SimConnection.stage = stage
    patches: list[tuple[Any, str, Any]] = [
        (os, "urandom", stage.random),
        (sqlite3, "connect", _connect),
        (sockets, "SocketWire", lambda *_, **__: _wire(stage)),
        (locks, "wait_for", lambda handle: _hold(stage, handle)),
        (locks, "close_and_remove", lambda handle, path: _remove(stage, handle, path)),
        (workers, "Thread", Thread),
        (workers, "SimpleQueue", SimQueue),
        (workers, "Event", Flag),
        (cli, "_invoke", lambda session: stage.commands[session.argv[0]](session) or 0),
        (signals, "watch", lambda _: nullcontext()),  # an interruption is drawn too
        (signals, "wait", lambda step, seconds: step(seconds)),
        # The file is there, whole and private: how it is opened is tried with real ones.
        (database, "open_database", lambda path, *_, **__: _connect(path)),
        (uptime, "read_uptime", lambda: Uptime("since then", stage.machine.now)),
        (memory, "protect_memory", lambda: None),  # all processes are this one
    ]
    before = [getattr(where, name) for where, name, _ in patches]
    for where, name, other in patches:
        setattr(where, name, other)
    try:
        yield stage
    finally:
        for (where, name, _), real in zip(patches, before, strict=True):
            setattr(where, name, real)
        for connection in SimConnection.idle:
            sqlite3.Connection.close(connection)
        SimConnection.idle.clear()


def use(stage: Stage, machine: Machine, network: Network) -> None:
    """Begins a history."""
    stage.machine, stage.network = machine, network
    Thread.machine = SimQueue.machine = Flag.machine = machine


def real_connection(state: Path) -> sqlite3.Connection:
    """A connection of the judge's own to a machine's database, which no fault touches."""
    return _real_connect(_DATABASE.format(state.name), uri=True, isolation_level=None, timeout=0)


def _connect(where: object, **_: Any) -> sqlite3.Connection:
    of = Path(str(where)).parent.name or "state"
    found = next((one for one in SimConnection.idle if one.of == of), None)
    if found is not None:
        SimConnection.idle.remove(found)
        found.row_factory = None
    else:
        found = _real_connect(
            _DATABASE.format(of),
            uri=True,
            timeout=0,
            isolation_level=None,
            check_same_thread=False,
            factory=SimConnection,
        )
        found.of = of
    machine = SimConnection.stage.machine
    if machine.task is not None:
        found.owner = machine.process
        machine.process.connections.append(found)
    return found


def _wire(stage: Stage) -> NetworkWire:
    assert stage.network is not None
    return NetworkWire(stage.network)


def _hold(stage: Stage, handle: int) -> None:
    stage.machine.step("lock", yields=False)  # it may be taken inside a transaction
    assert _real_take(handle), "a fresh name is held by somebody else"
    if stage.machine.task is not None:
        stage.machine.process.handles.add(handle)


def _remove(stage: Stage, handle: int, path: Path) -> None:
    """Lets go of a lock, unless the system has taken it back already: the process was killed."""
    task = stage.machine.task
    process = task.process if task is not None else None
    if process is None or process.dead:
        return
    process.handles.discard(handle)
    _real_remove(handle, path)


def _error(words: str, code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(words)
    error.sqlite_errorcode = code
    return error
