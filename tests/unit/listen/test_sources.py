"""A listener on another source than its own HTTP receiver: deliveries that were verified before."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from support.clocks import ManualClock
from support.listening import (
    NOW,
    SECRET,
    RunningListener,
    TargetServer,
    event,
    listening,
    plan_for,
    status_line,
)
from support.serving import free_port
from svc.listen.forward.pump import ForwardOptions
from svc.listen.forward.signing import sign_anew
from svc.listen.inbox.interfaces import Source
from svc.listen.ingest import Ingest
from svc.listen.listener import OpenSource
from svc.listen.output_records import ListenerRecord
from svc.listen.plan import ListenerPlan
from svc.listen.progress import Until
from svc.listen.verify.verify import Delivery, read_facts
from svc.signature import header_value, verify
from svc.state import Database

OWN = "whsec_test_9zzN7cPq2LrTxVb9KdYhWm3"
OLD = NOW - 3600


def anew(headers: bytes, body: bytes) -> tuple[bytes, bool]:
    return sign_anew(headers, body, [OWN], NOW), False


class HeldSource:
    """Gives what a test gives it, and remembers the answers."""

    died: "asyncio.Future[None] | None" = None

    def __init__(self, ingest: Ingest, _: Callable[[ListenerRecord], None]) -> None:
        self._ingest = ingest
        self.answers: list[int] = []
        self.stops: list[str] = []

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()

    async def stop_accepting(self) -> None:
        self.stops.append("stop")

    async def close(self) -> None:
        self.stops.append("close")

    def give(self, number: int, redelivered: int = 0) -> None:
        body = event(number)
        signed = f"Svc-Signature: {header_value(body, [SECRET], OLD)}\r\n".encode()
        taken = Delivery(body, signed, NOW, read_facts(body), came_at=OLD)
        admit = partial(self._ingest.admit, taken, self.answers.append, None, redelivered)
        self._loop.call_soon_threadsafe(admit)


class FailingSource(HeldSource):
    """Gives one event, and cannot be stopped without an error."""

    async def start(self) -> None:
        await super().start()
        self.give(1)

    async def stop_accepting(self) -> None:
        await super().stop_accepting()
        raise RuntimeError("the source has died")


class DyingSource(HeldSource):
    """Ends by an error of its own a moment after it began."""

    async def start(self) -> None:
        await super().start()
        self.died = self._loop.create_future()
        self._loop.call_later(0.05, self.died.set_exception, RuntimeError("nothing more comes"))


class Fed(RunningListener):
    """A listener whose deliveries come from the test."""

    held: HeldSource

    def __init__(
        self, folder: Path, plan: ListenerPlan, kind: type[HeldSource] = HeldSource
    ) -> None:
        super().__init__(folder / "state" / "state.db", plan, ManualClock(NOW))
        self._kind = kind

    def source(self) -> OpenSource:
        def opened(ingest: Ingest, tell: Callable[[ListenerRecord], None]) -> Source:
            self.held = self._kind(ingest, tell)
            return self.held

        return opened


def fed(folder: Path, plan: ListenerPlan) -> Fed:
    listener = Fed(folder, plan)
    listener.start()
    return listener


def test_listener_runs_on_another_source(tmp_path: Path) -> None:
    """R52's exception: what comes is kept, answered, told with its age, forwarded once; the source is let go."""
    with TargetServer() as target:
        listener = fed(tmp_path, plan_for(target.port, signs=anew))
        listener.held.give(1)
        listener.held.give(1)
        listener.held.give(2, redelivered=1)
        listener.forwards(2)
        first, copy, second = listener.events(3)
        summary = listener.stop()
    assert listener.held.answers == [200, 200, 200]
    assert listener.held.stops == ["stop", "close"]
    assert (summary.received, summary.duplicates, summary.forwarded) == (3, 1, 2)
    assert (first.came_at, first.duplicate, copy.duplicate) == (OLD, False, True)
    assert second.to_dict()["redelivered"] == 1
    one, two = sorted(target.received, key=lambda each: each.body)
    verify(one.body, one.header("svc-signature"), [OWN], NOW)
    assert (one.header("svc-redelivered"), two.header("svc-redelivered")) == ([], [b"1"])


def test_what_an_earlier_run_may_have_sent_says_so(tmp_path: Path) -> None:
    """A crash between the target's answer and its note makes a double; it is marked as one."""
    port = free_port()
    silent = fed(tmp_path, plan_for(port, signs=anew, forwarding=ForwardOptions(1)))
    for number in range(3):
        silent.held.give(number)
    silent.events(3)
    assert silent.stop().pending == 3
    with Database.open(silent.path, clock=ManualClock(NOW)) as state, state.write() as tx:
        tx.execute("UPDATE targets SET running = 1")  # as if it had been killed
    with TargetServer(port=port) as target:
        listener = fed(tmp_path, plan_for(target.port, signs=anew))
        listener.held.give(3)
        listener.forwards(4)
        listener.stop()
    marks = {each.body: each.header("svc-redelivered") for each in target.received}
    assert marks == {event(n): [b"1"] if n < 3 else [] for n in range(4)}


def test_what_was_never_sent_has_no_mark(tmp_path: Path) -> None:
    """R108, R124: what the sender claims is dropped, and what only waited came to nobody."""
    port = free_port()
    with listening(tmp_path, port) as listener:
        assert listener.send(event(1), Svc_Redelivered="7") == 200
    with TargetServer(port=port) as target, listening(tmp_path, port) as listener:
        listener.forwards(1)
    assert target.received[0].header("svc-redelivered") == []


def test_source_that_dies_ends_the_listener_at_once(tmp_path: Path) -> None:
    """With its reason: one that waited for more would wait for ever, and silently."""
    plan = plan_for(until=Until.parse("order.paid"), timeout=None)
    listener = Fed(tmp_path, plan, DyingSource)
    with pytest.raises(RuntimeError, match="nothing more comes"):
        listener.run_here()
    assert listener.held.stops == ["stop", "close"]


def test_source_that_fails_at_its_stop_takes_nothing_with_it(tmp_path: Path) -> None:
    """Its error comes out of the listener; what it gave before is forwarded and answered first."""
    with TargetServer() as target:
        plan = plan_for(target.port, ack="forwarded", until=Until.parse("order.paid"))
        listener = Fed(tmp_path, plan, FailingSource)
        with pytest.raises(RuntimeError, match="the source has died"):
            listener.run_here()
    assert target.ids == ["evt_1"]
    assert (listener.held.answers, listener.held.stops) == ([200], ["stop", "close"])


@pytest.mark.parametrize(
    ("answer", "status"), [(200, 200), (422, 422), (500, 500)], ids=["taken", "refused", "failed"]
)
def test_whoever_waits_hears_what_the_plan_makes_of_a_reply(
    answer: int, status: int, tmp_path: Path
) -> None:
    """A source may want to know the target's own word, where the service gets 502."""
    with TargetServer(lambda _: status_line(answer)) as target:
        plan = plan_for(target.port, ack="forwarded", verdict=lambda reply: reply.status or 599)
        listener = fed(tmp_path, plan)
        listener.held.give(1)
        listener.until(lambda: bool(listener.held.answers))
        listener.stop()
    assert listener.held.answers == [status]
