"""Workers: each a thread with its own kept-alive connection, sending what was recorded."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Final, NamedTuple

from svc.batch.pace import Pace
from svc.client.call import Call
from svc.client.client import Client
from svc.client.journal.entry import Intent
from svc.client.prepared import Prepared
from svc.client.replies import Reply
from svc.clock import Clock
from svc.errors import SvcError

_NAP_SECONDS: Final = 0.1


class Job(NamedTuple):
    """A recorded request; `row` is its number in the file, `line` where that begins."""

    row: int
    line: int
    intent: Intent
    call: Call
    prepared: Prepared


class Ended(NamedTuple):
    """What came of a job: an answer, an error, or neither where it was not sent at all."""

    job: Job
    reply: Reply | None = None
    error: SvcError | None = None
    bug: BaseException | None = None


class Created:
    """Which request of this run has made which object; may be used from any thread."""

    def __init__(self) -> None:
        self._by: dict[tuple[str, str | None], str] = {}

    def is_taken(self, key: str, made: str, world: str | None) -> bool:
        """Whether a request with another idempotency key has made it already (promise R93)."""
        return self._by.setdefault((made, world), key) != key


class Fleet:
    """`size` workers; `connect` makes the client of one, in its own thread.

    They take jobs in order until `halts` says of one's end that it concerns them all, which is seen
    before another one begins. They end with the process at the latest: nothing that they do must be
    tidied up, since what they send is in the journal.
    """

    def __init__(
        self,
        size: int,
        connect: Callable[[], Client],
        halts: Callable[[Ended], bool],
        pace: Pace,
        clock: Clock,
    ) -> None:
        self._connect = connect
        self._halts = halts
        self._pace = pace
        self._clock = clock
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._ended: list[Ended] = []
        self._news = Event()
        self._created = Created()
        self._stopping = Event()
        self._threads = [Thread(target=self._work, daemon=True) for _ in range(size)]
        for thread in self._threads:
            thread.start()

    def put(self, jobs: Iterable[Job]) -> None:
        """Hands jobs to the workers."""
        for job in jobs:
            self._jobs.put(job)

    def take(self, timeout: float) -> list[Ended]:
        """Waits so many seconds for a job to end; gives all that have.

        They stay with the workers until `drop`, so that a signal in between loses none.
        """
        if timeout > 0 and not self._ended:
            self._news.wait(timeout)
        self._news.clear()
        return self._ended[:]

    def drop(self, count: int) -> None:
        """Forgets the first ends, which have been kept."""
        del self._ended[:count]

    def stop(self) -> None:
        """Begins nothing more: jobs that wait come back unsent, those under way go on."""
        self._stopping.set()
        with suppress(Empty):
            while True:
                job = self._jobs.get_nowait()
                if job is not None:
                    self._tell(Ended(job))

    def close(self, seconds: float) -> None:
        """Lets the workers go home, and waits for them so long in all."""
        self.stop()
        until = self._clock.monotonic() + seconds
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join(max(0.0, until - self._clock.monotonic()))

    def _work(self) -> None:
        client: Client | None = None
        try:
            while (job := self._jobs.get()) is not None:
                client = self._one(client, job)
        finally:
            if client is not None:
                client.close()

    def _tell(self, ended: Ended) -> None:
        self._ended.append(ended)
        self._news.set()

    def _one(self, client: Client | None, job: Job) -> Client | None:
        try:
            client = client or self._connect()
            ended = self._sent(client, job)
        except SvcError as error:
            ended = Ended(job, error=error)
        except BaseException as bug:  # noqa: BLE001  the main thread reports it
            ended = Ended(job, bug=bug)
        if self._halts(ended):
            self.stop()
        self._tell(ended)
        return client

    def _sent(self, client: Client, job: Job) -> Ended:
        self._wait(self._pace.turn())
        if self._stopping.is_set():
            return Ended(job)
        intent = job.intent
        reply = client.deliver(
            job.call,
            job.prepared,
            sent_before=intent.sent_before,
            first_sent_at=intent.first_sent_at,
            is_taken=partial(self._created.is_taken, intent.stored.idempotency_key),
        )
        return Ended(job, reply=reply)

    def _wait(self, seconds: float) -> None:
        """Waits its turn, in naps, so that a stop is seen at once."""
        until = self._clock.monotonic() + seconds
        while (left := until - self._clock.monotonic()) > 0 and not self._stopping.is_set():
            self._clock.sleep(min(left, _NAP_SECONDS))
