"""The engine of the sandbox: runs calls in transactions, keeps the clock, and delivers webhooks.

`app` makes one. `api`, `control` and `checkout` pass it functions of a `Transaction`, which it
commits in groups (`store.commit`). It runs due jobs, the attempts of webhooks among them
(`jobs.runner`). It knows no rule of the service.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from tempfile import TemporaryFile
from typing import IO, Final, TypeVar

from svc.clock import Clock, SystemClock
from svc.errors import LocalError, name_failure
from svc.sandbox.clock import ClockMode, VirtualClock
from svc.sandbox.faults.webhooks import WebhookFaults
from svc.sandbox.jobs.runner import JobHandler, Pause, Runner, pause
from svc.sandbox.options import MEMORY
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.store import export, jobs
from svc.sandbox.store.commit import GroupCommit
from svc.sandbox.store.deliveries import DeliveryRow
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.ids import IdSource
from svc.sandbox.store.settings import StoredSettings
from svc.sandbox.store.sqlite import DISK_FULL, Store
from svc.sandbox.store.transaction import SharedState, Transaction
from svc.sandbox.webhooks import attempts
from svc.sandbox.webhooks.attempts import WebhookAttempts
from svc.sandbox.webhooks.sender import HttpSender, ReceiverReply, WebhookSender

T = TypeVar("T")
Fixture = Callable[[Transaction, Transaction, str | None], None]


_INSTANCE_BYTES: Final = 8


class Engine:
    """Everything of the sandbox that is not a rule of the service.

    `handlers` run the jobs that state machines schedule. `fixture` fills a new or reset sandbox: it
    gets a transaction of test mode, one of live mode and the name that was asked for. `runner` is
    what turns the clock, `upload` has the rows of an import so far; `clock` and `settings` are to
    be looked at only. `under_way` says how many requests have begun and are not answered, 0 where
    that is unknown. Time, the seed and the sender are given in, so that tests own them.
    """

    def __init__(
        self,
        store: Store,
        *,
        handlers: Mapping[str, JobHandler] | None = None,
        fixture: Fixture | None = None,
        seed: int | None = None,
        clock: Clock | None = None,
        sender: WebhookSender | None = None,
        pause: Pause = pause,
        webhook_faults: WebhookFaults | None = None,
        under_way: Callable[[], int] = lambda: 0,
    ) -> None:
        self._real = real = clock or SystemClock()
        self._store = store
        self._under_way = under_way
        self._fixture = fixture
        self._job_names = {*(handlers or {}), jobs.ATTEMPT}
        self._world = store.instance() or _draw_instance()
        self.upload = export.StateUpload()
        self.clock = VirtualClock(real)
        self.settings = StoredSettings(store)
        self._shared = SharedState(store, IdSource(seed, os.urandom), self.settings, self.clock)
        self._shared.load()
        # How many requests and webhook attempts have begun: they may share a commit.
        self._groups = GroupCommit(self._shared, lambda: under_way() + self.runner.under_way)
        self._sender = sender or HttpSender()
        faults = webhook_faults or WebhookFaults()
        self.runner = Runner(
            store,
            self._groups,
            self.clock,
            WebhookAttempts(self._groups, self.clock, self._sender, real.now, faults),
            handlers or {},
            lambda: self.settings.current["webhook_delivery"] == "manual",
            pause,
        )
        self._groups.on_job = self.runner.wake

    # --- life -----------------------------------------------------------------------------------

    @property
    def is_new(self) -> bool:
        """True until the first commit: `reset` then fills the sandbox."""
        return self._store.is_new

    @property
    def persisted(self) -> bool:
        """False if everything lives in memory."""
        return self._store.path != MEMORY

    async def start(self) -> None:
        """Begins to run jobs; what fell due while the sandbox was down runs first."""
        await self._groups.save_clock()  # request ids begin a new run with every start
        if self._store.instance() is None:
            await self._groups.run("test", lambda tx: tx.store.set_instance(self._world))
        self.runner.start()

    async def stop(self) -> None:
        """Ends the runner and the connections, and closes the store."""
        try:
            await self.runner.stop()
            await self._sender.close()
            self._groups.commit()
        finally:
            self._store.close()

    # --- calls ----------------------------------------------------------------------------------

    async def run(self, mode: str, fn: Callable[[Transaction], T]) -> T:
        """Runs `fn` in a transaction and returns when its effects are on disk (promise R82).

        What `fn` raises is raised again, after its own effects, and no others, were taken back.
        Calls that are on their way together share one commit; a lone one has its own.

        Raises:
            LocalError: the effects could not be saved; none of them happened.
        """
        return await self._groups.run(mode, fn, alone=self._under_way() == 1)

    def read(self, mode: str, fn: Callable[[Transaction], T]) -> T:
        """Runs `fn`, which changes nothing; it never sees data that is not on disk."""
        return self._groups.read(mode, fn)

    def request_id(self) -> str:
        """A `req_` id for one HTTP exchange."""
        return self._shared.ids.request()

    # --- time -----------------------------------------------------------------------------------

    async def set_clock(
        self, mode: ClockMode, to: int | None = None, gone: asyncio.Event | None = None
    ) -> None:
        """Freezes the clock or lets it run, after an advance to a moment (microseconds)."""
        if to is not None:
            await self.runner.advance(to=to, until=None, gone=gone, freeze=mode == "frozen")
        self.clock.switch(mode)
        await self._groups.save_clock()
        self.runner.wake()

    # --- controls -------------------------------------------------------------------------------

    @property
    def world(self) -> str:
        """Names the present state, also after a restart; after a reset or an import it is another.

        A seed gives the same ids to other objects then.
        """
        return self._world

    async def reset(self, *, seed: int | None = None, fixture: str | None = None) -> None:
        """Drops all state and fills the sandbox anew; without a seed the present one begins again.

        The clock follows the real one again.
        """
        await self._replace(lambda tx: self._refill(tx, seed, fixture))

    async def export(self) -> IO[bytes]:
        """The whole state as one document, in a file without a name, which the caller closes.

        Other calls read on meanwhile; those that change something wait.

        Raises:
            LocalError: the disk of temporary files is full.
        """
        with (
            name_failure("The export could not be written", code=DISK_FULL),
            ExitStack() as stack,
            self._groups.hold_writes(),  # saves how far ids were drawn
        ):
            file = stack.enter_context(TemporaryFile())
            for piece in export.dump(self._store):
                file.write(piece)
                await asyncio.sleep(0)
            file.seek(0)
            stack.pop_all()  # the caller closes it
            return file

    async def restore(self, state: Doc) -> None:
        """Puts an exported state in place of the present one, clock and ids included.

        Raises:
            StateInvalidError: it is no state of this format; nothing was changed.
        """
        await self._replace(lambda tx: self._reload(tx, state))

    async def resend(self, mode: str, event: str, endpoint: str | None = None) -> list[DeliveryRow]:
        """Delivers an event again at once, and returns how the attempts went.

        An attempt that is held back (setting `webhook_delivery`) is made instead of another one.

        Raises:
            Problem: no such event or endpoint, the endpoint is disabled or does not take its type,
                or the sandbox was reset meanwhile.
        """
        world = self._world
        if self._groups.fails:  # nothing is sent while no answer to it can be saved
            await self._groups.save_clock()
        owed = await self._groups.run(mode, lambda tx: attempts.queue(tx, event, endpoint))
        for job in owed:
            self.refuse_past(world)  # job numbers begin anew: this one may be another job's now
            await self.runner.finish_now(job)
        self.refuse_past(world)
        return self._groups.read(mode, lambda tx: attempts.outcome(tx, owed))

    async def send_badly_signed(self, mode: str) -> list[tuple[str, ReceiverReply]]:
        """Sends each receiver its latest event with a wrong signature; returns the answers.

        A receiver that verifies signatures refuses it. Nothing of it is written into the log.
        """
        wall = int(self._real.now())
        made = self._groups.read(mode, lambda tx: attempts.build_badly_signed(tx, wall))
        return [(outgoing.url, await self._sender.send(outgoing)) for outgoing in made]

    def refuse_past(self, world: str) -> None:
        """Refuses what began in another world (400): after a reset nothing of before happens."""
        if world != self._world:
            message = "The sandbox was reset meanwhile; the request has no effect."
            raise Problem(400, "sandbox_reset", message)

    async def _replace(self, fill: Callable[[Transaction], None]) -> None:
        """Changes everything at once, while no job runs and no attempt is under way.

        An advance that is under way is ended by it.
        """
        drawn = _draw_instance()

        def fill_as_another(tx: Transaction) -> None:
            fill(tx)
            tx.store.set_instance(drawn)

        self.runner.end_advance()
        async with self.runner.lock:
            await self.runner.cut_short(0)
            self._groups.commit()  # what comes is a whole of its own: a million rows, maybe
            await self._groups.run("test", fill_as_another, alone=True)
            self._world = drawn
            self.runner.clear()
        self.runner.wake()

    def _reload(self, tx: Transaction, state: Doc) -> None:
        export.restore(tx.store, state, self._job_names)
        self._shared.forget()
        try:
            self._shared.load()
        except LocalError as error:
            raise export.unfit("its clock or its ids are impossible") from error
        tx.store.recount()  # whatever was said of it

    def _refill(self, tx: Transaction, seed: int | None, fixture: str | None) -> None:
        tx.store.wipe()
        self._shared.forget()
        self.clock.restart()
        self._shared.ids = IdSource(self._shared.ids.seed if seed is None else seed, os.urandom)
        if self._fixture is not None:
            now = self.clock.now()
            test = Transaction(self._shared, "test", now)
            self._fixture(test, Transaction(self._shared, "live", now), fixture)


def _draw_instance() -> str:
    return os.urandom(_INSTANCE_BYTES).hex()
