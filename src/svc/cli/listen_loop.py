"""The event loop of `svc events listen`: signals end it, a command may run beside it."""

import asyncio
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from svc.cli.listen_exec import Companion
from svc.cli.listen_inspect import Inspection
from svc.cli.listen_link import Link
from svc.cli.listen_screen import Screen
from svc.cli.listen_watch import Watch
from svc.cli.session import Session
from svc.listen.inbox.inbox import Inbox
from svc.listen.listener import Listener, ListenerPlan
from svc.listen.records import Ready, Record, Summary
from svc.system import signals
from svc.system.supervisor import tell_ready

_AWAITED_SECONDS: Final = 10.0  # in which the service delivers what a command has set off


@dataclass(frozen=True, slots=True)
class Ended:
    """How listening ended: its summary, the signal that ended it, the exit code of `--exec`.

    `exec_code` is None where there was no command, or where it ran longer than we did.
    """

    summary: Summary
    signal: int | None
    exec_code: int | None


def run_loop(
    plan: ListenerPlan,
    inbox: Inbox,
    bound: socket.socket,
    session: Session,
    command: str | None,
    screen: Screen,
    link: Link | Watch | None,
    inspection: Inspection | None,
) -> Ended:
    """Serves until the relay ends.

    Raises:
        LocalError, OSError: what ended it too early, such as a closed stdout.
    """
    beside = Companion(command, session.env, plan.secrets[0]) if command else None
    listening = _Loop(plan, inbox, session, beside, screen, link, inspection)
    with (
        asyncio.Runner() as runner,
        # Before the loop runs at all: it would drop what a handler raises.
        signals.heard(runner.get_loop(), signals.STOPPING, listening.stop),
    ):
        return runner.run(listening.run(bound))


class _Loop:
    def __init__(
        self,
        plan: ListenerPlan,
        inbox: Inbox,
        session: Session,
        command: Companion | None,
        screen: Screen,
        link: Link | Watch | None,
        inspection: Inspection | None,
    ) -> None:
        self._plan = plan
        self._inbox = inbox
        self._session = session
        self._command = command
        self._screen = screen
        self._link = link
        self._inspection = inspection
        self._trouble: BaseException | None = None
        self._signal: int | None = None
        self._relay: Listener | None = None

    async def run(self, bound: socket.socket) -> Ended:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._unexpected)
        self._relay = Listener(self._plan, self._inbox, self._session.clock, self._tell)
        if self._signal is not None:
            self._relay.stop()
        try:
            if self._inspection is not None:
                await self._inspection.start(self._plan, self._tell, self._link)
            if self._link is not None:
                self._link.attach(self._relay, self._tell, self._fail)
            summary = await self._relay.run(bound)
        finally:
            if self._command is not None:
                await self._command.close()
            if self._inspection is not None:
                await self._inspection.close()
        self._flush()
        if self._trouble is not None:
            raise self._trouble
        return Ended(summary, self._signal, self._command.code if self._command else None)

    def _tell(self, record: Record) -> None:
        """Shows a record; when nobody reads any more, that ends the listener."""
        if self._trouble is not None:
            return
        try:
            self._screen.show(record)
        except OSError as error:
            self._fail(error)
        if self._inspection is not None:
            self._inspection.tell(record)
        if isinstance(record, Ready):
            tell_ready(self._session.env)
        if isinstance(record, Ready) and self._command is not None:
            self._command.start(self._command_ended)

    def _flush(self) -> None:
        """Writes what the last pass of the loop has shown."""
        try:
            self._screen.flush()
        except OSError as error:
            self._fail(error)

    def _command_ended(self) -> None:
        """Ends the listener, at once if the command failed, else when it has what it waits for."""
        if self._relay is None or self._command is None:
            return
        if self._command.code != 0:
            self._end()
            return
        self._relay.finish()
        if self._plan.timeout is None:
            asyncio.get_running_loop().call_later(_AWAITED_SECONDS, self._end)

    def stop(self, number: int) -> None:
        """Ends the listener; a second signal ends the process at once (promise R78)."""
        signals.end_at_once(asyncio.get_running_loop(), signals.STOPPING)
        self._signal = number
        if self._command is not None:
            self._command.terminate(number)
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
