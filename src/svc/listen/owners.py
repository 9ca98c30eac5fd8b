"""Every error has one owner: a callback's exception ends its connection or lane and is reported.

A callback that is given to the event loop is wrapped by `own`, a task by `own_task`. They report to
the loop's exception handler, and only bugs of svc: faults of peers, targets and disks are handled
where they occur.

The modules of the listener use it, and those of its commands that give the loop a callback
(`cli.events.link`, `loop` and `screen`).
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Final, ParamSpec

P = ParamSpec("P")

_SPAN_SECONDS: Final = 60.0
BUGS_MAX: Final = 100  # the same one in a minute: then going on helps no one


def own(step: Callable[P, object], end: Callable[[], None] | None = None) -> Callable[P, None]:
    """Wraps a callback for the event loop: its exception is reported, and `end` is called."""

    # In quotes: else they are made anew for each callback.
    def run(*args: "P.args", **named: "P.kwargs") -> None:
        try:
            step(*args, **named)
        except Exception as error:  # noqa: BLE001  the owner: nothing rises into the loop
            report(error)
            if end is not None:
                end()

    run.__wrapped__ = step  # type: ignore[attr-defined]  # as functools.wraps does, which takes long
    return run


async def own_task(
    work: Callable[[], Coroutine[Any, Any, None]], end: Callable[[], None] | None = None
) -> None:
    """Runs a task's work: its exception is reported, and `end` is called."""
    try:
        await work()
    except Exception as error:  # noqa: BLE001  as for a callback
        report(error)
        if end is not None:
            end()


def report(error: Exception) -> None:
    """Hands a bug to the loop's exception handler, which prints one line; the listener goes on."""
    asyncio.get_running_loop().call_exception_handler({"message": "bug", "exception": error})


class BugCounter:
    """Counts bugs by their kind and place."""

    def __init__(self) -> None:
        self._times: dict[tuple[str, str], deque[float]] = {}

    def count(self, error: BaseException, now: float) -> int:
        """Counts one bug; returns how many of its kind came in the last minute, at most 100."""
        times = self._times.setdefault(
            (type(error).__name__, place_of(error)), deque(maxlen=BUGS_MAX)
        )
        times.append(now)
        while now - times[0] > _SPAN_SECONDS:
            times.popleft()
        return len(times)


def place_of(error: BaseException) -> str:
    """Returns the function and line that an error came from, or nothing where it was not raised."""
    trace = error.__traceback__
    if trace is None:
        return ""
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    return f"{code.co_qualname}:{trace.tb_lineno}"
