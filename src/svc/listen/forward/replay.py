"""Runs the sending of a command in one event loop, which a signal ends.

`svc events replay` sends its deliveries one after the other by `ReplayLoop.run`; `svc events
examine` runs its whole examination by it. A listener has no use for it.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from typing import Any, Self, TypeVar

from svc.system import loops
from svc.system.signals import STOPPING

T = TypeVar("T")


class ReplayLoop:
    """Sends deliveries one after the other, in one event loop that a signal ends.

    Attributes:
        stopped_by: the signal that has come, None while none has.
    """

    def __init__(self) -> None:
        self.stopped_by: int | None = None
        self._working: asyncio.Task[Any] | None = None
        self._open = ExitStack()

    def __enter__(self) -> Self:
        self._runner = self._open.enter_context(asyncio.Runner())
        loop = self._runner.get_loop()
        self._open.enter_context(loops.catch_signals(loop, STOPPING, self._stop))
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(_passes())  # for a signal that has come while nothing was being sent
        self._open.close()

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T | None:
        """Runs the coroutine of `work` in the loop; returns None when a signal has ended it."""
        return self._runner.run(self._run(work))

    async def _run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T | None:
        await _passes()
        if self.stopped_by is not None:
            return None
        self._working = working = asyncio.get_running_loop().create_task(work())
        await asyncio.wait([working])
        return None if working.cancelled() else working.result()

    def _stop(self, number: int) -> None:
        """Ends what is being sent; a second signal ends the process at once (promise R78)."""
        loops.end_at_once(asyncio.get_running_loop(), STOPPING)
        self.stopped_by = number
        if self._working is not None:
            self._working.cancel()


async def _passes() -> None:
    """Lets the loop look for a signal, and then hear it."""
    for _ in range(3):
        await asyncio.sleep(0)
