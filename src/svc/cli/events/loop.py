"""Runs the event loop of `svc events listen`, with signals, and the command of `--exec` beside it.

`run` makes a `ListenerLoop` of a `ListenerPlan` and an inbox and calls its `run`: a socket that it
has bound, or a log, in; an `Ended` out. Each record goes to the screen, the inspector and the
`SignatureWatch`. The command starts when the listener is ready. If it fails, the listener ends at
once; if it succeeds, the listener ends once what `--until` awaits has come and all is forwarded,
and without `--timeout` ten seconds later at most. Otherwise a signal, `--until` or `--timeout`
ends it. `run` and `from_log` enter `inspect` for the page of `--inspect`, which the loop starts;
the page itself is `svc.listen.inspector`.
"""

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from svc.api_keys import SIGNING_VARIABLE, without_secrets
from svc.cli.events.link import EndpointLink, SignatureWatch
from svc.cli.events.options import InspectAt
from svc.cli.events.screen.printer import RecordPrinter
from svc.cli.events.screen.streams import Printing
from svc.cli.events.secrets import StoredSecrets
from svc.cli.framework.session import Session
from svc.errors import LocalError, system_words
from svc.listen.inbox.history import InboxScope
from svc.listen.inbox.interfaces import Inbox
from svc.listen.listener import Listener, OpenSource
from svc.listen.output_records import BugMet, ListenerRecord, Ready, Summary
from svc.listen.owners import BUGS_MAX, BugCounter, own, own_task, place_of
from svc.listen.plan import ListenerPlan
from svc.state import Database
from svc.system import loops
from svc.system.processes import Group, build_group_options, job_of, notify_systemd
from svc.system.signals import STOPPING

if TYPE_CHECKING:
    from svc.listen.inspector.app import Inspector


@contextmanager
def inspect(session: Session, wanted: InspectAt | None) -> Iterator["Inspector | None"]:
    """Binds the port of the page and opens a database connection for it alone.

    Yields None if no page is wanted.

    Raises:
        LocalError: the requested port is taken.
    """
    if wanted is None:
        yield None
        return
    from svc.listen.inspector.app import Inspector, bind_inspector
    from svc.listen.inspector.history import DeliveryList

    settings = session.settings
    whose = InboxScope(settings.profile, settings.mode, session.base_url.origin)
    utc = bool(session.given.everywhere.utc)
    with (
        bind_inspector(wanted.port) as bound,
        Database.open(session.paths.state_file, clock=session.clock) as state,
    ):
        catalogue = DeliveryList(state, whose, session.clock)
        yield Inspector(bound, settings.mode, catalogue, session.clock, utc=utc)


async def start_inspector(
    inspector: "Inspector",
    session: Session,
    plan: ListenerPlan,
    emit: Callable[[ListenerRecord], None],
    link: "EndpointLink | None",
) -> None:
    """Starts the page in the listener's event loop, and prints its address.

    `emit` is called with the records of events that the page sends again. With a `link` the
    endpoint and its secrets may change while the page is open.
    """
    from svc.listen.inspector.replay import Replayer

    def own() -> tuple[str | None, tuple[str, ...]]:
        if link is None:
            return plan.endpoint, plan.secrets
        return link.endpoint.id, link.endpoint.secrets

    def secrets_of(endpoint_id: str) -> Sequence[str]:
        found = StoredSecrets(session, session.state()).get(endpoint_id)
        return (found,) if found else ()

    session.out.note(f"Inspector {inspector.url}")
    again = Replayer(inspector.catalogue, session.clock, plan, own, secrets_of, emit)
    await inspector.start(again)


_SECONDS_TO_END: Final = 0.8  # promise R78: we stop in under a second
_LOOK_SECONDS: Final = 0.01
_STDERR: Final = 2  # stdout holds our records


class ExecProcess:
    """The shell command of --exec, in a process session of its own.

    So a Ctrl-C reaches only the listener, which then ends everything that the command has started
    and not moved into a session of its own. The signing secret is in its environment and nowhere
    else; an API key is not (promise R43).
    """

    def __init__(self, command: str, env: Mapping[str, str], secret: str) -> None:
        self._command = command
        self._env = {**without_secrets(env), SIGNING_VARIABLE: secret}
        self._group: Group | None = None
        self._watching: asyncio.Task[None] | None = None
        self._asked_at: float | None = None
        self._broken: OSError | None = None
        self.code: int | None = None

    def start(self, ended: Callable[[], None]) -> None:
        """Starts the command inside the running loop; calls `ended` when the command ends."""
        watch = own_task(lambda: self._watch(ended), ended)
        self._watching = asyncio.get_running_loop().create_task(watch)

    def terminate(self, number: int = signal.SIGTERM) -> None:
        """Sends the command, and what it has left running, the signal that ended the listener."""
        if self._group is not None and self._asked_at is None:
            self._asked_at = asyncio.get_running_loop().time()
            self._group.ask(number)

    async def close(self) -> None:
        """Ends the command and what it has left running, by force after 0.8 s.

        Raises:
            LocalError: there was no shell to run the command.
        """
        if self._watching is None:
            return
        while self._group is None and not self._watching.done():  # noqa: ASYNC110  it is starting
            await asyncio.sleep(_LOOK_SECONDS)
        self.terminate()
        loop = asyncio.get_running_loop()
        end = (self._asked_at or loop.time()) + _SECONDS_TO_END
        if self._group is not None:
            while self._group.lives() and loop.time() < end:  # noqa: ASYNC110  no event tells of it
                await asyncio.sleep(_LOOK_SECONDS)
            self._group.kill()
        await self._watching
        if self._broken is not None:
            why = system_words(self._broken)
            raise LocalError(f"--exec: the shell cannot be run: {why}.")

    async def _watch(self, ended: Callable[[], None]) -> None:
        try:
            process = await asyncio.create_subprocess_shell(
                self._command,
                env=self._env,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=_STDERR,
                **build_group_options(),
            )
        except OSError as error:
            self._broken = error
            ended()
            return
        self._group = Group(
            process.pid, lambda: process.returncode is not None, job_of(process.pid)
        )
        code = await process.wait()
        if self._asked_at is None:  # else it is our doing how it ended
            self.code = code if code >= 0 else 128 - code
        ended()


_AWAITED_SECONDS: Final = 10.0  # in which the service delivers what a command has set off


@dataclass(frozen=True, slots=True)
class Ended:
    """How listening ended: its summary, the signal that ended it, the exit code of `--exec`.

    `exec_code` is None where there was no command, or where it ran longer than the listener.
    """

    summary: Summary
    signal: int | None
    exec_code: int | None


@dataclass(slots=True)
class ListenerLoop:
    """The event loop of one listener, and of its child process."""

    plan: ListenerPlan
    inbox: Inbox
    session: Session
    child_process: ExecProcess | None
    screen: RecordPrinter
    printing: Printing
    link: EndpointLink | None
    inspector: "Inspector | None"
    signatures: SignatureWatch | None = None
    _trouble: BaseException | None = field(default=None, init=False)
    _signal: int | None = field(default=None, init=False)
    _listener: Listener | None = field(default=None, init=False)
    _bugs: BugCounter = field(default_factory=BugCounter, init=False)

    def run(self, bound: "socket.socket | OpenSource") -> Ended:
        """Serves until the listener ends; raises LocalError, OSError: what ended it too early."""
        with (
            asyncio.Runner() as runner,
            # Before the loop runs at all: it would drop what a handler raises.
            loops.catch_signals(runner.get_loop(), STOPPING, self.stop),
        ):
            return runner.run(self._run(bound))

    async def _run(self, bound: "socket.socket | OpenSource") -> Ended:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._handle_unexpected)
        self.printing.start(self._fail)
        self._listener = Listener(self.plan, self.inbox, self.session.clock, self._emit)
        if self._signal is not None:
            self._listener.stop()
        try:
            if self.inspector is not None:
                plan, emit, link = self.plan, self._emit, self.link
                await start_inspector(self.inspector, self.session, plan, emit, link)
            if self.link is not None:
                self.link.attach(self._listener, self._emit, self._fail)
            summary = await self._listener.run(bound)
        finally:
            if self.child_process is not None:
                await self.child_process.close()
            if self.inspector is not None:
                await self.inspector.close()
            await self._end_output()
        if self._trouble is not None:
            raise self._trouble
        return Ended(summary, self._signal, self.child_process.code if self.child_process else None)

    def _emit(self, record: ListenerRecord) -> None:
        """Shows a record; a closed stdout ends the listener."""
        if self._trouble is not None:
            return
        try:
            self.screen.show(record)
        except OSError as error:
            self._fail(error)
        if self.inspector is not None:
            self.inspector.emit(record)
        if self.signatures is not None:
            self.signatures.hear(record)
        if isinstance(record, Ready):
            notify_systemd(self.session.env)
            if self.child_process is not None:
                self.child_process.start(self._command_ended)

    async def _end_output(self) -> None:
        """Ends the document, and has what was printed read; a signal waits for no reader."""
        if self._trouble is None or not isinstance(self._trouble, OSError):
            self.screen.close()
        left = await self.printing.finish(
            lambda: self._signal is not None or self._trouble is not None
        )
        if left and self._trouble is None:
            self.session.out.warn(f"The last {left:,} lines or more were not read and are lost.")

    def _command_ended(self) -> None:
        """Ends the listener, at once if the command failed, else when it has what it waits for."""
        if self._listener is None or self.child_process is None:
            return
        if self.child_process.code != 0:
            self._end()
            return
        self._listener.finish()
        if self.plan.timeout is None:
            asyncio.get_running_loop().call_later(_AWAITED_SECONDS, own(self._end))

    def stop(self, number: int) -> None:
        """Ends the listener; a second signal ends the process at once (promise R78)."""
        loops.end_at_once(asyncio.get_running_loop(), STOPPING)
        self._signal = number
        if self.session.format != "human":  # for people the summary begins a line of its own
            self.session.leave_line()
        if self.child_process is not None:
            self.child_process.terminate(number)
        self._end()

    def _end(self) -> None:
        if self._listener is not None:
            self._listener.stop()

    def _fail(self, error: BaseException) -> None:
        if self._trouble is None:
            self._trouble = error
        self._end()

    def _handle_unexpected(self, _: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
        """Shows a bug, whose owner has ended its connection or lane; a hundred alike are the end.

        A full descriptor table is none: asyncio accepts again in a second.
        """
        error = context.get("exception")
        if isinstance(error, OSError) and "socket" in context:
            return
        if not isinstance(error, Exception):
            error = RuntimeError(str(context.get("message", "the event loop")))
        count = self._bugs.count(error, self.session.clock.monotonic())
        if count >= BUGS_MAX:
            self._fail(error)
        elif count.bit_count() == 1:  # the first one, the second, the fourth ...: not each of them
            name, place = type(error).__name__, place_of(error)
            self._emit(BugMet(self.session.clock.now(), name, place, count))
