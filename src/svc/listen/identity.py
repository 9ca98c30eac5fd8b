"""Claims which listener a process is, so that it keeps its port, path and inbox from run to run.

Two listeners that run at once are two, each with an endpoint of its own; the system frees a claim
when its process dies.

`svc events listen` calls `claim_listener` at its start: a row of the table of listeners whose lock
no other process holds. `svc events replay` keeps listeners from starting while it sends.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Final

from svc.errors import name_failure
from svc.listen.inbox.history import InboxScope
from svc.listen.inbox.listeners import (
    ListenerId,
    Waiting,
    list_known,
    list_waiting,
    load_remembered,
)
from svc.listen.names import Listening
from svc.state import Database
from svc.system import files, locks

_START_LOCK: Final = "gate"


@contextmanager
def claim_listener(
    state: Database,
    folder: Path,
    listening: Listening,
    new_path: Callable[[], str],
    targets: Sequence[str] = (),
    on_wait: Callable[[], object] = lambda: None,
) -> Iterator[ListenerId]:
    """Claims a listener of the kind `listening` that no process runs, or creates one.

    One with the same `targets` is preferred. Waits while `svc events replay` sends pending events;
    `on_wait` is called once before.

    Raises:
        LocalError: the folder of the locks cannot be used.
    """
    with _start_lock(folder) as handle:
        if not locks.take(handle):
            on_wait()
            locks.wait_for(handle)
        lock, claim = _claim(state, folder, listening, new_path, targets)
    try:
        yield claim
    finally:
        os.close(lock)


@contextmanager
def hold_off_listeners(folder: Path) -> Iterator[bool]:
    """Prevents listeners from starting during the block; yields False if another process does.

    Raises:
        LocalError: the folder of the locks cannot be used.
    """
    with _start_lock(folder) as handle:
        yield locks.take(handle)


def part_waiting(
    state: Database, folder: Path, whose: InboxScope
) -> tuple[list[Waiting], list[Waiting]]:
    """Returns the listeners with events to forward: those that some process runs, and the others.

    Call it only inside `hold_off_listeners`: no listener may start meanwhile.

    Raises:
        LocalError: the folder of the locks cannot be used.
    """
    found = list_waiting(state, whose)
    running = [one for one in found if _runs(folder, one.scope)]
    return running, [one for one in found if one not in running]


def _runs(folder: Path, scope: str) -> bool:
    lock = _lock(folder, scope)
    if lock is None:
        return True
    os.close(lock)
    return False


@contextmanager
def _start_lock(folder: Path) -> Iterator[int]:
    """Opens the file whose lock everyone has who claims listeners or looks which of them run."""
    handle = _open(folder, _START_LOCK)
    try:
        yield handle
    finally:
        os.close(handle)


def _claim(
    state: Database,
    folder: Path,
    listening: Listening,
    new_path: Callable[[], str],
    targets: Sequence[str],
) -> tuple[int, ListenerId]:
    for scope in _candidates(state, listening, targets):
        lock = _lock(folder, scope)
        if lock is not None:
            try:
                claim = load_remembered(state, scope, listening, new_path)
                same = (
                    one
                    for one, known in list_known(state, listening).items()
                    if one != scope and known.targets == json.dumps(list(targets))
                )
                return lock, replace(claim, beside=any(_runs(folder, one) for one in same))
            except BaseException:
                os.close(lock)
                raise
    raise AssertionError("there is always a new one")


def _candidates(state: Database, listening: Listening, targets: Sequence[str]) -> Iterator[str]:
    """Returns the listener of these targets, those with events left to forward, the rest, new ones.

    Of two that ran at once and were stopped, each has its own command forward what it has left.
    """
    found = list_known(state, listening)
    ours = json.dumps(list(targets))
    yield from sorted(found, key=lambda one: (found[one].targets != ours, not found[one].waiting))
    yield from map(listening.scope, count(len(found)))


def _lock(folder: Path, scope: str) -> int | None:
    handle = _open(folder, hashlib.sha256(scope.encode()).hexdigest()[:32])
    if locks.take(handle):
        return handle
    os.close(handle)
    return None


def _open(folder: Path, name: str) -> int:
    with name_failure(f"The folder {folder} cannot be used"):
        files.make_private(folder)
        return files.open_private(folder / name, os.O_RDWR | os.O_CREAT)
