"""The base class of the two sources that read a team's log: `group` and `log_cursor`.

A source reads messages over a `LogConnection` and passes their events to the listener's `Ingest`; a
record (`LogState`) says when the log cannot be read, and when it can again.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from svc.clock import Clock
from svc.listen.ingest import Ingest
from svc.listen.log.connection import LogConnection
from svc.listen.log.credentials import check_keys
from svc.listen.log.messages import Trust, Unreadable
from svc.listen.log.streams import key_fingerprint
from svc.listen.output_records import ListenerRecord, LogState, Rejected
from svc.listen.owners import own

T = TypeVar("T")


class LogSource:
    """The base of sources that read a log; reports when the log is unreadable, and readable again.

    `died` is done, with the error, as soon as an error has ended a task of the source.
    """

    def __init__(
        self,
        connection: LogConnection,
        clock: Clock,
        ingest: Ingest,
        emit: Callable[[ListenerRecord], None],
        trust: Trust,
    ) -> None:
        self._connection = connection
        self._trust = trust
        self._clock = clock
        self._ingest = ingest
        self._emit = emit
        self._down = False
        self._loop = asyncio.get_running_loop()
        self._tasks: list[asyncio.Task[None]] = []
        self.died: asyncio.Future[None] = self._loop.create_future()

    async def stop_accepting(self) -> None:
        """Accepts no more events; raises the error that a task has ended with."""
        self._connection.client.on_state_change = lambda _: None
        for task in self._tasks:
            task.cancel()
        self.died.cancel()
        for ended in await asyncio.gather(*self._tasks, return_exceptions=True):
            if isinstance(ended, Exception):  # not that it was cancelled: that is how it ends
                raise ended

    def _begin(
        self, *work: Coroutine[Any, Any, None], woken: Callable[[], None] = lambda: None
    ) -> None:
        """Starts the tasks; has `woken` called when the connection is lost."""

        def on_state_change(reason: str | None) -> None:
            if reason is None:  # it is there again when events can be read
                return
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(own(self._tell_state), reason)
                self._loop.call_soon_threadsafe(own(woken))

        self._connection.client.on_state_change = on_state_change
        self._tasks = [self._loop.create_task(one) for one in work]
        for task in self._tasks:
            task.add_done_callback(own(self._handle_end))

    def _handle_end(self, task: "asyncio.Task[None]") -> None:
        """Has a bug or a lost database end the listener at once: nothing more would come."""
        if not task.cancelled() and (error := task.exception()) and not self.died.done():
            self.died.set_exception(error)
            self.died.exception()  # it is raised where the tasks are awaited too

    async def _ask(self, call: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(self._connection.submit(call))

    async def _refuse(self, error: Unreadable, seq: int, size: int) -> None:
        """Tells of a message that is put aside; it stays in the log.

        Raises:
            AuthError: the log has a key that these credentials lack; every new message of its
                receivers would be skipped.
        """
        if error.by == "key":
            info = await self._ask(self._connection.info(f"STREAM.INFO.{self._trust.stream}"))
            check_keys(self._trust.keys, self._trust.stream, key_fingerprint(info["config"]))
        text = f"Message {seq} of the log is put aside. {error.message}"
        self._ingest.reject(Rejected(self._clock.now(), error.reason, text, size))

    def _tell_state(self, reason: str | None) -> None:
        down = reason is not None
        if down != self._down:
            self._down = down
            self._emit(LogState(self._clock.now(), str(self._connection.address), reason))
