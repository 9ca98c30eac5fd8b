"""The event loop of `svc events listen`: signals end it, a command may run beside it."""

import asyncio
import signal
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from svc.cli.listen_screen import Screen
from svc.cli.session import Session
from svc.cli.webhook_secret import VARIABLE
from svc.errors import LocalError
from svc.keys.resolve import VARIABLE as KEY_VARIABLE
from svc.listen.inbox import Inbox
from svc.listen.records import Ready, Record, Summary
from svc.listen.relay import Plan, Relay

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SECONDS_TO_END: Final = 2.0
_NOT_STARTED: Final = 127


@dataclass(frozen=True, slots=True)
class Ended:
    """How listening ended: its summary, the signal that ended it, the exit code of `--exec`."""

    summary: Summary
    signal: int | None
    child_code: int | None


def run_loop(
    plan: Plan,
    inbox: Inbox,
    bound: socket.socket,
    session: Session,
    command: tuple[str, ...],
    screen: Screen,
) -> Ended:
    """Serves until the relay ends.

    Raises:
        LocalError, OSError: what ended it too early, such as a closed stdout.
    """
    return asyncio.run(_Loop(plan, inbox, session, command, screen).run(bound))


class _Loop:
    def __init__(
        self,
        plan: Plan,
        inbox: Inbox,
        session: Session,
        command: tuple[str, ...],
        screen: Screen,
    ) -> None:
        self._plan = plan
        self._inbox = inbox
        self._session = session
        self._command = command
        self._screen = screen
        self._trouble: BaseException | None = None
        self._signal: int | None = None
        self._child: asyncio.Task[int] | None = None
        self._relay: Relay | None = None

    async def run(self, bound: socket.socket) -> Ended:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._unexpected)
        self._relay = Relay(self._plan, self._inbox, self._session.clock, self._tell)
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._stop, number)
        try:
            summary = await self._relay.run(bound)
        finally:
            code = await self._end_child()
        if self._trouble is not None:
            raise self._trouble
        return Ended(summary, self._signal, code)

    def _tell(self, record: Record) -> None:
        """Shows a record; when nobody reads any more, that ends the listener."""
        if self._trouble is not None:
            return
        try:
            self._screen.show(record)
        except OSError as error:
            self._fail(error)
        if isinstance(record, Ready) and self._command:
            self._child = asyncio.get_running_loop().create_task(self._run_child())

    def _stop(self, number: int) -> None:
        """Ends the listener; a second signal ends the process at once (promise R78)."""
        loop = asyncio.get_running_loop()
        for each in _SIGNALS:
            loop.remove_signal_handler(each)
            signal.signal(each, signal.SIG_DFL)
        self._signal = number
        self._end()

    def _end(self) -> None:
        if self._relay is not None:
            self._relay.stop()

    def _fail(self, error: BaseException) -> None:
        if self._trouble is None:
            self._trouble = error
        self._end()

    def _unexpected(self, loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
        """Ends the listener with an error that nobody caught; a full descriptor table passes."""
        error = context.get("exception")
        if isinstance(error, OSError) and "socket" in context:
            return  # asyncio accepts again in a second
        if isinstance(error, Exception):
            self._fail(error)
        else:
            loop.default_exception_handler(dict(context))

    async def _run_child(self) -> int:
        """Runs the command of `--exec`; its output goes to stderr, for stdout holds our records."""
        env = {name: value for name, value in self._session.env.items() if name != KEY_VARIABLE}
        env[VARIABLE] = self._plan.secrets[0]
        try:
            child = await asyncio.create_subprocess_exec(
                *self._command, env=env, stdin=asyncio.subprocess.DEVNULL, stdout=2
            )
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            self._fail(LocalError(f"{self._command[0]} cannot be run: {reason}."))
            return _NOT_STARTED
        try:
            code = await child.wait()
        except asyncio.CancelledError:
            await _terminate(child)
            raise
        self._end()
        return code if code >= 0 else 128 - code

    async def _end_child(self) -> int | None:
        if self._child is None:
            return None
        self._child.cancel()
        with suppress(asyncio.CancelledError):
            return await self._child
        return None


async def _terminate(child: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        child.terminate()
        try:
            async with asyncio.timeout(_SECONDS_TO_END):
                await child.wait()
        except TimeoutError:
            child.kill()
            await child.wait()
