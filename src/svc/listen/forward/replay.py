"""Sending a kept delivery again, one after the other, until a signal comes."""

import asyncio
from contextlib import ExitStack
from typing import Self

from svc.listen.forward.request import ForwardSender
from svc.listen.http.connection import TargetReply, exchange_once
from svc.system import loops
from svc.system.signals import STOPPING


class ReplayLoop:
    """Sends deliveries one after the other, in one loop that hears the signals that end it.

    Attributes:
        stopped_by: the signal that has come, None while none has.
    """

    def __init__(self) -> None:
        self.stopped_by: int | None = None
        self._sending: asyncio.Task[TargetReply] | None = None
        self._open = ExitStack()

    def __enter__(self) -> Self:
        self._runner = self._open.enter_context(asyncio.Runner())
        loop = self._runner.get_loop()
        self._open.enter_context(loops.catch_signals(loop, STOPPING, self._stop))
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(_passes())  # for a signal that has come while nothing was being sent
        self._open.close()

    def send(
        self, sender: ForwardSender, headers: bytes, body: bytes, seconds: float
    ) -> TargetReply | None:
        """Sends one delivery and waits for its answer, at most so many seconds.

        None when a signal has ended it.
        """
        return self._runner.run(self._send(sender, sender.request(headers, body).data, seconds))

    async def _send(
        self, sender: ForwardSender, request: bytes, seconds: float
    ) -> TargetReply | None:
        await _passes()
        if self.stopped_by is not None:
            return None
        exchange = exchange_once(sender.link(), request, seconds)
        self._sending = asyncio.get_running_loop().create_task(exchange)
        await asyncio.wait([self._sending])
        return None if self._sending.cancelled() else self._sending.result()

    def _stop(self, number: int) -> None:
        """Ends what is being sent; a second signal ends the process at once (promise R78)."""
        loops.end_at_once(asyncio.get_running_loop(), STOPPING)
        self.stopped_by = number
        if self._sending is not None:
            self._sending.cancel()


async def _passes() -> None:
    """Lets the loop look for a signal, and then hear it."""
    for _ in range(3):
        await asyncio.sleep(0)
