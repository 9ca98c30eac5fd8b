"""A list of refunds, a service without a network, and a real journal: what runs are tested with."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from svc.batch.operations import find_operation
from svc.batch.results import Results
from svc.batch.run import Run, RunDeps, make_should_stop
from svc.batch.tally import Totals
from svc.batch.workers import Rate, SharedQuota, Workers
from svc.client.client import Client
from svc.client.exchange import Deadline, Failure, RawReply, WireRequest
from svc.clock import SystemClock
from svc.delivery.hints import build_held_error
from svc.delivery.journal.batches import BatchName
from svc.delivery.journal.refusals import format_full_command
from svc.delivery.journal.sender_locks import SenderLocks
from svc.delivery.plan import BatchPlan, BatchTimes
from svc.delivery.rows import RowJournal
from svc.state import Database
from unit.delivery.rows import BASE, SCOPE, Desk

KEY = "sk_test_canary"
Answer = RawReply | Failure


class QuickClock(SystemClock):
    """The machine's time, but nobody waits longer than the moment in which ends are gathered."""

    def sleep(self, seconds: float) -> None:
        super().sleep(min(seconds, 0.01))


class RefundService:
    """Answers refunds without a network, and remembers what it was asked.

    `answer` decides over a request: a number is an error's status, None is success.
    """

    def __init__(self) -> None:
        self.answer: Callable[[WireRequest, int], Answer | int | None] = lambda request, nth: None
        self.requests: list[WireRequest] = []
        self.made: dict[str, str] = {}
        self.at_once = self.most_at_once = 0
        self._lock = threading.Lock()

    def exchange(
        self, request: WireRequest, *, deadline: Deadline, connect_seconds: float
    ) -> Answer:
        with self._lock:
            self.requests.append(request)
            nth = len(self.requests)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            found = self.answer(request, nth)
            return self._made(request) if found is None else _answer(found)
        finally:
            with self._lock:
                self.at_once -= 1

    def close(self) -> None:
        pass

    @property
    def keys(self) -> list[str]:
        return [dict(request.headers)["Idempotency-Key"] for request in self.requests]

    def commit(self, request: WireRequest) -> str:
        """Makes the refund of a request, once for each key."""
        key = dict(request.headers)["Idempotency-Key"]
        with self._lock:
            return self.made.setdefault(key, f"rf_{len(self.made) + 1}")

    def _made(self, request: WireRequest, **more: Any) -> RawReply:
        asked = json.loads(request.body)
        refund = {"object": "refund", "livemode": False, "currency": "EUR", **asked}
        body = json.dumps({"id": self.commit(request), **refund, **more}).encode()
        return RawReply(200, (), body)


def _answer(found: Answer | int) -> Answer:
    if not isinstance(found, int):
        return found
    said = {"type": "invalid_request_error", "code": f"code_{found}", "message": "No."}
    return RawReply(found, (), json.dumps(said).encode())


class FakeProgress:
    """A progress bar that a test looks through."""

    def __init__(self) -> None:
        self.told: Callable[[Totals], None] = lambda totals: None
        self.cleared = 0

    def tell(self, totals: Totals) -> None:
        self.told(totals)

    def clear(self) -> None:
        self.cleared += 1


class Floor:
    """A list of refunds, the journal, the service, and runs of the list."""

    def __init__(self, folder: Path, state: Database) -> None:
        self.clock: SystemClock = QuickClock()
        self.service = RefundService()
        self.watch = FakeProgress()
        self.state = state
        self.folder = folder
        self.path = folder / "r.ndjson"
        self.sender_locks = SenderLocks(folder / "state" / "senders")
        self.desk = Desk(state, self.sender_locks, self.clock)
        self.intents = self.desk.journal
        self.batch = BatchName("/a/refunds.csv", "refunds.create", SCOPE)
        self.batches = self.desk.batches
        self.quota = SharedQuota(10_000)
        self.api_version: str | None = None

    def connect(self, **more: Any) -> Client:
        return Client(
            BASE, KEY, mode="test", clock=self.clock, wire=self.service, quota=self.quota, **more
        )

    def plan(self, amounts: "list[int | str]", **may: Any) -> BatchPlan:
        """What a run of the list with these amounts has to do."""
        rows = ({"amount": amount, "payment": "pay_1"} for amount in amounts)
        return self.desk.plan(*rows, batch=self.batch, **may)

    def run(
        self,
        amounts: "list[int | str]",
        *,
        size: int = 4,
        in_order: bool = False,
        connect: Callable[[], Client] | None = None,
    ) -> Run:
        """Runs the list with these amounts; a text is a row that is bad."""
        todo = self.plan(amounts)
        self.quota = SharedQuota(len(todo.tasks))
        journal = RowJournal(self.intents, self.batch, BASE, "json", self.api_version)
        halts = make_should_stop(self.quota)
        rate = Rate(self.clock, None)
        workers = Workers(size, connect or self.connect, halts, rate, self.clock)
        now = BatchTimes(self.clock.now())
        with Results(self.path, self.batch) as results:
            results.read_past()
            deps = RunDeps(journal, workers, results, self.quota, self.clock)
            self.last = Run(
                todo,
                find_operation("refunds.create"),
                deps,
                size=size,
                in_order=in_order,
                progress=self.watch,
                held_error=lambda one: build_held_error(one, now, format_full_command),
            )
            try:
                self.last.go()
            finally:
                self.sender_locks.close()  # as at the process's end
        return self.last

    @property
    def results(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    @property
    def outcomes(self) -> list[str]:
        return [line["outcome"] for line in self.results]

    @property
    def states(self) -> list[str]:
        """What the journal has of the rows, in their order."""
        return [intent.state for intent in self.intents.list(batch=self.batch.id)]
