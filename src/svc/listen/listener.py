"""The listener itself: runs its source and its pipeline until it is told to stop. Prints nothing.

`svc events listen` makes one `Listener` from a `ListenerPlan` and calls `run` (`cli.events.loop`).
Deliveries come from the receiver or from a team's log and go through a `Pipeline`, which connects
`ingest` and `forward.dispatcher` over one inbox; every happening is passed to a callback as a
record (`output_records`).
"""

import asyncio
import json
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from svc.clock import Clock
from svc.errors import LocalError, name_failure
from svc.listen.forward.dispatcher import Dispatcher, DispatcherDeps
from svc.listen.forward.pending_acks import PendingAcks
from svc.listen.forward.request import ForwardSender
from svc.listen.forward.signing import LateSigner
from svc.listen.http.dial import Connect, open_connection
from svc.listen.inbox.commit import InboxWriter
from svc.listen.inbox.interfaces import Inbox, InPlace, OpenItem, Source
from svc.listen.ingest import Ingest
from svc.listen.output_records import Left, ListenerRecord, Ready, Summary
from svc.listen.owners import own_task
from svc.listen.plan import ListenerPlan
from svc.listen.progress import ListenerProgress
from svc.listen.receiver.connection import ReceiverHooks
from svc.listen.receiver.server import HeadCheck, Receiver
from svc.listen.routes import AnyTarget
from svc.listen.running import sender_for
from svc.state import LOST
from svc.system.files import replace_file

_GRACE_SECONDS: Final = 0.8  # promise R78: stopped in under a second
_LOOK_SECONDS: Final = 0.02
_STRAGGLER_SECONDS: Final = 0.3  # what a command has set off is on its way when it ends
_CHORES_SECONDS: Final = 3600.0
_BETWEEN_SECONDS: Final = 0.01  # in which other processes get at the state database
_COPY_SECONDS: Final = 0.4  # of the second in which the listener ends


class Pipeline:
    """Both halves of a listener on one inbox; made inside an event loop, used once.

    `emit` is called with a record of everything that happens, `on_event_ended` after each event
    that has ended.
    """

    def __init__(
        self,
        plan: ListenerPlan,
        inbox: Inbox,
        clock: Clock,
        emit: Callable[[ListenerRecord], None],
        on_event_ended: Callable[[], None],
        connect: Connect = open_connection,
    ) -> None:
        """Checks the secrets first; raises SignatureError: a secret cannot be one (promise R48)."""
        self.progress = ListenerProgress(plan.until)
        self.writer = InboxWriter(inbox, results_first=plan.ack == "forwarded")
        # Under `forwarded` the sender tries again; a second hand at it would only double events.
        options = plan.forwarding
        if plan.ack == "forwarded":
            options = replace(options, retry="off")
        acks = PendingAcks(plan.verdict)
        shared = (self.writer, acks, self.progress, clock, emit)
        forwarding = DispatcherDeps(inbox, *shared, on_event_ended)
        self.late = LateSigner(plan.secrets, clock)
        signers = {"late": self.late, "original": None}
        sign = signers[plan.signs] if isinstance(plan.signs, str) else plan.signs

        def sender(target: AnyTarget) -> ForwardSender:
            return sender_for(target, plan.headers, connect, sign, plan.trust)

        self.dispatcher = Dispatcher(plan.routes, options, sender, forwarding)
        self.ingest = Ingest(plan, *shared, self.dispatcher.hand_over, on_event_ended)
        self.writer.on_trouble(self.ingest.report_store_state)

    @property
    def idle(self) -> bool:
        """True when every delivery is kept and every event has ended at every target."""
        return self.writer.idle and self.dispatcher.idle

    async def close(self, grace: float) -> int:
        """Ends both halves, attempts after `grace` seconds; returns how many events are pending."""
        self.ingest.close()
        await self.dispatcher.close(grace)
        pending = await self.dispatcher.pending()
        await self.writer.close()
        return pending


OpenSource = Callable[[Ingest, Callable[[ListenerRecord], None]], Source]


class Listener:
    """One listener; made and run inside an event loop, once."""

    def __init__(
        self, plan: ListenerPlan, inbox: Inbox, clock: Clock, emit: Callable[[ListenerRecord], None]
    ) -> None:
        """Checks the secrets first; raises SignatureError: a secret cannot be one (promise R48)."""
        self._plan = plan
        self._clock = clock
        self._emit = emit
        self._head_check = HeadCheck(plan.path, plan.hosts)
        self._inbox = inbox
        self._has_child_process = plan.has_child_process
        self._hurry = False
        self._stop = asyncio.Event()
        self._pipeline = Pipeline(plan, inbox, clock, emit, self._check_end)

    async def run(self, way_in: "socket.socket | OpenSource") -> Summary:
        """Runs until it is stopped, or until the plan's condition is reached.

        The way in is a socket from `receiver.bind`, or what opens another source.

        Raises:
            LocalError: the ready file cannot be written, or the inbox not be read.
        """
        started = self._clock.monotonic()
        source = self._source(way_in)
        # Before anything arrives, which is not to be left alone or taken for an earlier run's.
        await self._pipeline.dispatcher.start(None if self._plan.resume else self._leave)
        await source.start()
        chores = asyncio.ensure_future(own_task(self._chores))
        try:
            ready = self._build_ready()
            with keep_ready_file(self._plan.ready_file, ready):
                self._emit(ready)
                await self._wait(source)
        except LocalError as error:
            received = self._pipeline.progress.received - self._pipeline.progress.duplicates
            raise explain_loss(error, self._inbox, received) from error
        finally:
            self._pipeline.ingest.close()
            pending = await self._close(source, chores)
        seconds = self._clock.monotonic() - started
        summary = self._pipeline.progress.summary(self._clock.now(), seconds, pending)
        self._emit(summary)
        return summary

    async def _close(self, source: Source, chores: "asyncio.Future[None]") -> int:
        """Ends all of it and gives how many are pending; raises what the source has died of."""
        try:
            await source.stop_accepting()
        finally:  # what came before is forwarded and answered all the same
            chores.cancel()
            pending = await self._pipeline.close(_GRACE_SECONDS)
            await source.close()
        return pending

    def _source(self, way_in: "socket.socket | OpenSource") -> Source:
        if not isinstance(way_in, socket.socket):
            return way_in(self._pipeline.ingest, self._emit)
        ingest, limits = self._pipeline.ingest, self._plan.limits
        refuse = partial(ingest.refuse, largest=limits.body_bytes)
        return Receiver(ReceiverHooks(self._head_check.check, ingest.take, refuse, limits), way_in)

    def move(self, host: str, secrets: Sequence[str]) -> None:
        """From now on accepts deliveries to another public name, signed with these secrets.

        Late events are signed anew with them too.

        Raises:
            SignatureError: a secret cannot be one (promise R48).
        """
        self._pipeline.ingest.verify_with(secrets)
        self._pipeline.late.secrets = tuple(secrets)
        self._head_check.admit(host)

    def stop(self) -> None:
        """Ends `run` soon; may be called from a signal handler of the loop."""
        self._hurry = True
        self._stop.set()

    def finish(self) -> None:
        """Ends `run` once the plan's condition is reached and all events are forwarded."""
        self._has_child_process = False
        if self._pipeline.progress.reached is not False:
            self._stop.set()

    def _build_ready(self) -> Ready:
        plan = self._plan
        targets = tuple(str(target) for target in plan.routes.targets)
        return Ready(
            self._clock.now(),
            plan.url,
            targets,
            plan.events,
            plan.mode,
            plan.endpoint,
            plan.inspector,
            plan.pending,
        )

    async def _wait(self, source: Source) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._plan.timeout):
                await self._first_end(source)
                if not self._hurry:
                    await self._drain()

    async def _first_end(self, source: Source) -> None:
        stopped = asyncio.ensure_future(self._stop.wait())
        ends: list[asyncio.Future[Any]] = [stopped, self._pipeline.writer.broken]
        if source.died is not None:
            ends.append(source.died)
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
        if self._pipeline.writer.broken.done():
            self._pipeline.writer.broken.result()
        if source.died is not None and source.died.done():
            source.died.result()

    async def _drain(self) -> None:
        """Lets the events that came with the awaited one arrive as well, and be forwarded."""
        if self._plan.has_child_process:
            await asyncio.sleep(_STRAGGLER_SECONDS)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._pipeline.dispatcher.seconds):
                while not (self._hurry or self._pipeline.idle):  # noqa: ASYNC110  bounded
                    await asyncio.sleep(_LOOK_SECONDS)

    async def _chores(self) -> None:
        while True:
            try:
                await self._prune()
            except LocalError as error:  # it is tried again in an hour
                self._pipeline.ingest.report_store_state(error)
            await asyncio.sleep(_CHORES_SECONDS)

    async def _prune(self) -> None:
        reached: int | None = 0
        while reached is not None:
            look = partial(self._inbox.prune, self._clock.now(), reached)
            reached = await self._pipeline.writer.read(look)
            await asyncio.sleep(_BETWEEN_SECONDS)

    def _leave(self, one: OpenItem) -> None:
        now = self._clock.now()
        self._emit(Left(now, one.event_id, one.type, one.object_id, one.attempts))

    def _check_end(self) -> None:
        if self._pipeline.progress.reached and not self._has_child_process:
            self._stop.set()


@contextmanager
def keep_ready_file(path: Path | None, ready: Ready) -> Iterator[None]:
    """Writes the ready record to a file for as long as the block runs; None writes nothing.

    Raises:
        LocalError: the file cannot be written.
    """
    if path is None:
        yield
        return
    with name_failure(f"The ready file {path} cannot be written"):
        replace_file(path, (json.dumps(ready.to_dict()) + "\n").encode())
    try:
        yield
    finally:
        remove(path)


def remove(path: Path) -> None:
    """Removes the file, also that of an earlier run, so that no script takes it for ours."""
    with suppress(OSError):
        path.unlink()


def explain_loss(error: LocalError, inbox: Inbox, received: int) -> LocalError:
    """Returns the error that ends a listener; if the file was lost, it says where the events are.

    `received` counts the events of this run that were answered 200.
    """
    if error.code not in LOST:
        return error
    events = f"{received} event{'' if received == 1 else 's'} of this run"
    if "moved to" in error.message:
        where = f"{events} that were answered 200 are in that file, with those of earlier runs."
        return LocalError(f"{error.message} {where}", code=error.code, hint=error.hint)
    copy = inbox.save_copy(_COPY_SECONDS) if isinstance(inbox, InPlace) else None
    what = error.message.replace("this command ran", "svc events listen ran")
    if copy is None:
        lost = f"{events} that were answered 200 were in it, and are kept nowhere else."
        return LocalError(f"{what} {lost}", code=error.code, hint=error.hint)
    place = copy.rpartition(".saved-")[0]
    before = f"mv '{place}' '{place}.before'; " if Path(place).exists() else ""
    return LocalError(
        f"{what} What it held, {events} included, was saved in {copy}.",
        code=error.code,
        hint=f"Before other svc commands run, put it back: {before}mv -n '{copy}' '{place}'",
    )
