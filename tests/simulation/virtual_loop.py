"""An event loop whose time jumps to the next timer: hours of waiting take as long as their work."""

import asyncio
from collections.abc import Callable
from contextvars import Context, ContextVar
from typing import Any, Final, TypeVar

T = TypeVar("T")

THREAD_SECONDS: Final = 0.0005  # what a call to a thread, such as a commit, takes
# Which simulated process a callback belongs to; what nobody has set belongs to the world outside.
PROCESS: ContextVar[object] = ContextVar("process", default=None)


class Stuck(AssertionError):  # noqa: N818  it says what is the matter
    """Nothing is left to happen, and what was waited for has not come."""


class VirtualLoop(asyncio.BaseEventLoop):
    """Runs callbacks and timers, no sockets; calls to a thread run in order, a moment later.

    Attributes:
        calls: how many calls to a thread there were.
        trouble: what callbacks have raised.
    """

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._thread_free_at = 0.0
        self._selector = self
        self.calls = 0
        self.trouble: list[object] = []
        self.set_exception_handler(lambda _, context: self.trouble.append(context))
        self.set_task_factory(_quiet_task)

    def time(self) -> float:
        return self._now

    def select(self, timeout: float | None) -> list[object]:
        """Stands in for a selector: waits by letting the time jump."""
        if timeout is None:
            raise Stuck("nothing is left to happen")
        self._now += timeout
        return []

    def _process_events(self, event_list: object) -> None:
        """There are none."""

    def _write_to_self(self) -> None:
        """Nobody sleeps."""

    def call_soon(  # type: ignore[override]  # of any arguments
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """After the end nothing happens: a lost process may be collected only then, and call."""
        if self.is_closed():
            return asyncio.Handle(callback, args, self, context)
        return super().call_soon(callback, *args, context=context)

    def run_in_executor(  # type: ignore[override]  # of a future for one thread only
        self, executor: object, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        future: asyncio.Future[T] = self.create_future()
        self.calls += 1
        self._thread_free_at = max(self._now, self._thread_free_at) + THREAD_SECONDS
        self.call_at(self._thread_free_at, _run, future, func, args)
        return future

    def run_for(self, seconds: float) -> None:
        """Lets so much time pass."""
        self.call_later(seconds, self.stop)
        self.run_forever()

    def do(self, coroutine: Any) -> Any:
        """Runs a coroutine to its end."""
        return self.run_until_complete(coroutine)

    def lose(self, process: object) -> None:
        """Ends a process as a power cut would: nothing of it happens any more."""
        for handle in (*self._ready, *self._scheduled):  # type: ignore[attr-defined]
            if handle._context.get(PROCESS) is process:
                handle.cancel()


def _run(future: asyncio.Future[T], func: Callable[..., T], args: tuple[Any, ...]) -> None:
    if future.cancelled():
        return
    try:
        future.set_result(func(*args))
    except Exception as error:  # noqa: BLE001  as a thread would hand it on
        future.set_exception(error)


def _quiet_task(loop: asyncio.AbstractEventLoop, coro: Any, **more: Any) -> asyncio.Task[Any]:
    task = asyncio.Task(coro, loop=loop, **more)
    task._log_destroy_pending = False  # type: ignore[attr-defined]  # those of a process that was lost
    return task
