"""The workers of a batch: threads with one connection each, which send recorded requests.

`run` puts `RowJob`s in and takes `RowEnd`s out; `cli.batch.workers` starts them. A worker waits its
turn and sends; before a refund or capture whose currency is to be compared, or whose object's last
request failed, it reads the object: a difference leaves the row unsent. The worker's client, as
`cli.batch.workers` makes it, tells `Rate` of each attempt that got an answer and takes retries from
`SharedQuota`; `halts` is made by `run.make_should_stop`.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Final

from svc.client import find
from svc.client.client import Client
from svc.client.operations import failure_of
from svc.clock import Clock
from svc.delivery.journal.entry import Settled, Stored
from svc.delivery.rows import RowEnd, RowJob, classify_error, classify_reply, classify_unsent
from svc.delivery.send import send_intent
from svc.errors import Conflict, SvcError
from svc.redaction import one_line
from svc.system import signals

# After a 429: a little below what went through, then a little more every second.
_CUT: Final = 0.85
_GROWTH_PER_SECOND: Final = 1.0
_WINDOW_SECONDS: Final = 1.0  # answers to requests that were under way say nothing new
_SLOWEST: Final = 0.5

# The code of a row whose currency is not that of its object.
CURRENCY_MISMATCH: Final = "currency_mismatch"
ROWS_PER_RETRY: Final = 2
_UNANSWERED_MAX: Final = 20  # rows one after the other
_RETRY_COST: Final = 5
_TIMEOUT_COST: Final = 10
_REFUND: Final = 1
_CREATED_MAX: Final = 10_000  # many times what can be under way at once
_CAPACITY_MAX: Final = 500
_NAP_SECONDS: Final = 0.1
_CAPACITY_MIN: Final = 15  # three further attempts: what a single command has


class Rate:
    """Limits the rate of all workers together.

    `rate` is a limit in requests per second, or None.
    """

    def __init__(self, clock: Clock, rate: float | None) -> None:
        self._clock = clock
        self._most = rate
        self._rate = rate
        self._next = clock.monotonic()
        self._since = self._next
        self._through = 0
        self._lock = Lock()

    def turn(self) -> float:
        """Reserves the next turn; returns for how many seconds the worker has to wait."""
        with self._lock:
            now = self._clock.monotonic()
            at = max(now, self._next)
            self._next = at + 1 / self._rate if self._rate is not None else at
            return at - now

    def note_success(self) -> None:
        """Notes a request that was not rate-limited; raises a lowered rate again."""
        with self._lock:
            self._through += 1
            if self._rate is not None and self._rate != self._most:
                faster = self._rate + _GROWTH_PER_SECOND / self._rate
                self._rate = faster if self._most is None else min(faster, self._most)

    def was_limited(self) -> None:
        """Lowers the rate of all workers below the one that the service has accepted."""
        with self._lock:
            now = self._clock.monotonic()
            span = now - self._since
            if self._rate is not None and self._rate != self._most and span < _WINDOW_SECONDS:
                return
            seen = self._through / max(span, _WINDOW_SECONDS)
            known = seen if self._rate is None else min(seen, self._rate)
            self._rate = max(_SLOWEST, _CUT * known)
            self._next = max(self._next, now + _WINDOW_SECONDS)
            self._since, self._through = now, 0


class SharedQuota:
    """The retry quota of one batch, which all workers share (R17): a failing service ends it soon.

    The quota is 500 for 200 rows or more, and less for fewer rows, so that there are at most one
    and a half attempts a row. A service that accepts requests and never answers uses none of it,
    because a row waits for its deadline in one attempt: rows without an answer are counted as well.

    Attributes:
        exhausted: whether no other row should be begun.
    """

    def __init__(self, rows: int) -> None:
        most = _RETRY_COST * rows // ROWS_PER_RETRY
        self._most = max(_CAPACITY_MIN, min(_CAPACITY_MAX, most))
        self._left = self._most
        self._lock = Lock()
        self._unanswered = 0
        self.exhausted = False

    def take(self, *, timed_out: bool) -> bool:
        """Takes one further attempt from the quota; False if too little is left."""
        cost = _TIMEOUT_COST if timed_out else _RETRY_COST
        with self._lock:
            paid = self._left >= cost
            self._left -= cost if paid else 0
            self.exhausted = self.exhausted or not paid
        return paid

    def give(self) -> None:
        """Returns a little to the quota after a success."""
        with self._lock:
            self._left = min(self._most, self._left + _REFUND)

    def row_ended(self, *, answered: bool) -> None:
        """Notes whether a row got a definite answer."""
        self._unanswered = 0 if answered else self._unanswered + 1
        self.exhausted = self.exhausted or self._unanswered >= _UNANSWERED_MAX


class Created:
    """The objects that the latest requests have created; may be used from any thread.

    Older requests are settled in the journal, which compares their objects.
    """

    def __init__(self) -> None:
        self._by: dict[tuple[str, str | None], str] = {}
        self._lock = Lock()

    def is_claimed_by_other(self, sent: Stored, made: str, world: str | None) -> bool:
        """Whether another request has created the object (promise R93)."""
        owner = sent.owner_of(made)
        with self._lock:
            found = self._by.setdefault((made, world), owner)
            if len(self._by) > _CREATED_MAX:
                del self._by[next(iter(self._by))]
        return found != owner


class Workers:
    """A pool of `size` worker threads; `connect` creates the client of a worker in its thread.

    Workers take jobs in order until `halts` is true for the result of one, which is checked before
    the next job begins. They may end with the process at any time: the journal has all requests.
    """

    def __init__(
        self,
        size: int,
        connect: Callable[[], Client],
        halts: Callable[[RowEnd], bool],
        rate: Rate,
        clock: Clock,
    ) -> None:
        self._connect = connect
        self._halts = halts
        self._rate = rate
        self._clock = clock
        self._jobs: SimpleQueue[RowJob | None] = SimpleQueue()
        self._ended: list[RowEnd] = []
        self._news = Event()
        self._created = Created()
        self._stopping = Event()
        self._threads = [Thread(target=self._work, daemon=True) for _ in range(size)]
        for thread in self._threads:
            thread.start()

    def put(self, jobs: Iterable[RowJob]) -> None:
        """Adds jobs to the queue of the workers."""
        for job in jobs:
            self._jobs.put(job)

    def take(self, timeout: float) -> list[RowEnd]:
        """Waits up to `timeout` seconds for a job to end; returns all results.

        The results are kept until `drop`, so that a signal in between loses none.

        Raises:
            Stopped: a signal came.
        """
        if not self._ended:
            signals.wait(self._news.wait, timeout)
        self._news.clear()
        return self._ended[:]

    def drop(self, count: int) -> None:
        """Removes the first `count` results, which the caller has recorded."""
        del self._ended[:count]

    def stop(self) -> None:
        """Begins no further jobs: waiting jobs are returned unsent, jobs under way continue."""
        self._stopping.set()
        with suppress(Empty):
            while True:
                job = self._jobs.get_nowait()
                if job is not None:
                    self._tell(classify_unsent(job))

    def close(self, seconds: float) -> None:
        """Ends the workers and waits for them, at most `seconds` for all together."""
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

    def _tell(self, ended: RowEnd) -> None:
        self._ended.append(ended)
        self._news.set()

    def _one(self, client: Client | None, job: RowJob) -> Client | None:
        try:
            client = client or self._connect()
            ended = self._send(client, job)
        except SvcError as error:
            ended = classify_error(job, error)
        except BaseException as bug:  # noqa: BLE001  the main thread reports it
            ended = classify_unsent(job, bug)
        if self._halts(ended):
            self.stop()
        self._tell(ended)
        return client

    def _send(self, client: Client, job: RowJob) -> RowEnd:
        self._wait(self._rate.turn())
        if self._stopping.is_set():
            return classify_unsent(job)
        passed = check_before_sending(client, job)
        if passed is not None:
            return RowEnd(job, Settled("not_sent"), "not_sent", error=passed)
        is_claimed_by_other = partial(self._created.is_claimed_by_other, job.intent.stored)
        return classify_reply(
            job, send_intent(client, job.intent, (job.call, job.prepared), is_claimed_by_other)
        )

    def _wait(self, seconds: float) -> None:
        """Waits for a turn in short steps, so that a stop is noticed at once."""
        until = self._clock.monotonic() + seconds
        while (left := until - self._clock.monotonic()) > 0 and not self._stopping.is_set():
            self._clock.sleep(min(left, _NAP_SECONDS))


def check_before_sending(client: Client, job: RowJob) -> SvcError | None:
    """Compares a row with the object that it is about; returns the reason not to send it (R119).

    A row that may have been sent before is not compared: its idempotency key prevents a second
    effect.
    """
    if job.intent.sent_before:
        return None
    try:
        return _compare_currency(client, job) or _confirm_failure(client, job)
    except SvcError as error:
        error.outcome = "not_sent"
        return error


def _compare_currency(client: Client, job: RowJob) -> SvcError | None:
    wanted = job.row.compared_currency
    reading = find.money_of(job.call) if wanted is not None else None
    if reading is None:
        return None
    found = client.send(reading).data.get("currency")
    if found == wanted:
        return None
    about = reading.path.rsplit("/", 1)[-1]
    said = f"{about} does not say its currency" if found is None else f"{about} is in {found}"
    return Conflict(
        f"The row says {wanted}, and {one_line(said)}.",
        code=CURRENCY_MISMATCH,
        param="currency",
        outcome="not_sent",
        hint=f"Correct the row: {about} is moved in its own currency",
    )


def _confirm_failure(client: Client, job: RowJob) -> SvcError | None:
    if job.failed is None:
        return None
    data = client.send(find.retrieve(job.failed)).data
    if failure_of(job.call, data) is not None:
        return None
    return Conflict(
        f"{job.failed} has not failed: it is {data.get('status')}.",
        code="object_not_failed",
        outcome="not_sent",
        hint=f"See it: svc get {job.failed}",
    )
