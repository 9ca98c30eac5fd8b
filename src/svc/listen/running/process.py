"""One process of a command: its input, the beginning of its output, and its end.

`lane` starts one for each event, `svc.listen.examine.check` one for each check.
"""

import asyncio
import signal
from contextlib import suppress
from typing import Any, Final

from svc.listen.http.answers import BODY_MAX, KEPT_BYTES
from svc.listen.owners import own
from svc.system.processes import Group, job_of

_LAST_WORDS_SECONDS: Final = 0.2
_LOOK_SECONDS: Final = 0.01


class CommandRun(asyncio.SubprocessProtocol):
    """One process: its input, the first `kept` bytes of its output, and its end.

    A StreamReader is not used: in some versions of Python the end of a process is told only when
    its output has ended too, which a child that it leaves behind can keep open.
    """

    def __init__(self, kept: int = KEPT_BYTES) -> None:
        self.output = bytearray()
        self._kept = kept
        self._count = 0
        self._ended = asyncio.Event()
        self._silent = asyncio.Event()
        self._transport: Any = None
        self._group: Group | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        leader = self._transport.get_pid()
        self._group = Group(leader, self._ended.is_set, job_of(leader))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._count += len(data)
        self.output += data[: max(self._kept - len(self.output), 0)]
        pipe = self._transport.get_pipe_transport(fd)
        if self._count > BODY_MAX and pipe is not None:  # a flood is read, but not at any speed
            pipe.pause_reading()
            asyncio.get_running_loop().call_later(_LOOK_SECONDS, own(pipe.resume_reading))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002  asyncio's signature
        if fd == 1:
            self._silent.set()

    def process_exited(self) -> None:
        self._ended.set()

    async def finish(self, body: bytes, limit: float) -> int | None:
        """Writes the payload, which a command need not read, and waits for the end.

        Gives the exit code, a signal's number below zero; None after `limit` seconds.
        """
        stdin = self._transport.get_pipe_transport(0)
        if stdin is not None:
            stdin.write(body)
            stdin.close()
        try:
            async with asyncio.timeout(limit):
                await self._ended.wait()
        except TimeoutError:
            return None
        return int(self._transport.get_returncode())

    async def end(self, seconds: float) -> None:
        """Ends the process and all of its group, by force after `seconds`."""
        assert self._group is not None
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        try:
            if self._group.lives():
                self._group.ask(signal.SIGTERM)
            while self._group.lives() and loop.time() < end:  # noqa: ASYNC110  no event tells of it
                await asyncio.sleep(_LOOK_SECONDS)
        finally:
            self._group.kill()
            await self._hear_the_last()
            self._transport.close()

    async def _hear_the_last(self) -> None:
        """Waits for the end of the process and of its output; what has left its group may write on.

        That is short, and no loop ends before: else its end would be told to a loop that is closed.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + _LAST_WORDS_SECONDS
        while loop.time() < end and not (self._ended.is_set() and self._silent.is_set()):
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(_LOOK_SECONDS / 10)
