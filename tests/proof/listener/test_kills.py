"""kill -9, again and again, under a stream of events that a sender repeats until they are taken."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from support.kills.killable import end, spawn
from support.listening import OK, Received, TargetServer, delivery, event, outcomes, status, talk
from support.suite.patience import patient
from svc.clock import SystemClock
from svc.state import Database

SENDERS = 4
NOTED_SECONDS = 0.5  # in which an answer of the target is on the disk, on a machine that is busy


class Child:
    """A listener as a process, started anew after each kill."""

    def __init__(self, state: Path, target: int) -> None:
        self._state = state
        self._target = target
        self.killed: list[float] = []
        self.start()

    def start(self) -> None:
        self.process, self.port = spawn(self._state, self._target)

    def kill(self) -> None:
        assert self.process.poll() is None, "it ended by itself"
        self.process.kill()
        at = time.monotonic()
        end(self.process)
        self.killed.append(at)


@dataclass
class WebhookService:
    """Sends each event until it is answered 200, as the service does; several at once."""

    child: Child
    numbers: Iterator[int]
    acknowledged: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self) -> None:
        while (number := self._next()) is not None:
            while not self._deliver(number):
                time.sleep(0.002)
            self.acknowledged.add(f"evt_{number}")

    def _next(self) -> int | None:
        with self.lock:
            return next(self.numbers, None)

    def _deliver(self, number: int) -> bool:
        data = delivery(event(number), now=int(time.time()))
        try:
            return status(talk(self.child.port, data)) == 200
        except OSError:
            return False


@dataclass
class AnswerTimes:
    """When the target answered each event."""

    times: dict[str, list[float]] = field(default_factory=dict)

    def reply(self, request: Received) -> bytes:
        name = request.body.split(b'"', 4)[3].decode()
        self.times.setdefault(name, []).append(time.monotonic())
        return OK

    def repeated(self) -> dict[str, list[float]]:
        return {name: times for name, times in self.times.items() if len(times) > 1}


def has(service: WebhookService, count: int) -> bool:
    return len(service.acknowledged) >= count


FORMS = [
    pytest.param(2, 120, id="2-kills"),
    pytest.param(10, 1000, id="10-kills", marks=pytest.mark.slow(seconds=6)),
]


@pytest.mark.parametrize(("kills", "events"), FORMS)
def test_kills_lose_nothing_and_repeat_only_what_was_in_flight(
    kills: int, events: int, tmp_path: Path
) -> None:
    """R50: every acknowledged event arrives; only what was in flight at a kill arrives twice."""
    ledger, state = AnswerTimes(), tmp_path / "state" / "state.db"
    with TargetServer(ledger.reply) as target:
        child = Child(state, target.port)
        service = WebhookService(child, iter(range(events)))
        senders = [threading.Thread(target=service.run) for _ in range(SENDERS)]
        for sender in senders:
            sender.start()
        try:
            for kill in range(1, kills + 1):
                wait_until(partial(has, service, kill * events // (kills + 1)))
                child.kill()
                child.start()
            for sender in senders:
                sender.join()
            wait_until(lambda: service.acknowledged <= set(ledger.times))
            wait_until(lambda: noted(state) == {"forwarded": events})
        finally:
            child.kill()
    assert len(service.acknowledged) == events
    for name, times in ledger.repeated().items():
        for before, after in pairwise(times):
            near = [at for at in child.killed if before - patient(0.05) <= at <= after]
            assert near, f"{name} came twice without a kill in between"
            assert near[0] - before < patient(NOTED_SECONDS), f"{name} was noted too late"
    assert ended_so(state) == {"forwarded": events}


def noted(state: Path) -> Counter[str | None]:
    """How the events in an inbox have ended so far."""
    with Database.open(state, clock=SystemClock()) as opened:
        return Counter(outcomes(opened))


def ended_so(state: Path) -> Counter[str | None]:
    """How the events in an inbox ended; the database is whole."""
    with Database.open(state, clock=SystemClock()) as opened:
        assert opened.rows("PRAGMA integrity_check") == [{"integrity_check": "ok"}]
        return Counter(outcomes(opened))


def wait_until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    last = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < last
        time.sleep(0.001)


def test_kill_between_the_targets_answer_and_its_note_sends_again(tmp_path: Path) -> None:
    """At least once. What the target took, and nobody could note, it gets again."""
    doomed, state = list[Child](), tmp_path / "state" / "state.db"

    def reply(request: Received) -> bytes | None:
        if b'"evt_2"' in request.body and doomed:
            doomed.pop().kill()  # it has the event and nobody will hear of it
            return None
        return OK

    with TargetServer(reply) as target:
        child = Child(state, target.port)
        WebhookService(child, iter([1])).run()
        wait_until(lambda: target.ids == ["evt_1"])
        wait_until(lambda: noted(state) == {"forwarded": 1})
        doomed.append(child)
        # Its 200 may have left before the kill, or not: then the service sends it once more.
        service = threading.Thread(target=WebhookService(child, iter([2])).run)
        service.start()
        wait_until(lambda: len(child.killed) == 1)
        child.start()
        service.join()
        wait_until(lambda: len(target.ids) == 3)
        WebhookService(child, iter([2])).run()  # the service's own retry is known, and sent no more
        time.sleep(0.2)
        child.kill()
    assert target.ids == ["evt_1", "evt_2", "evt_2"]
