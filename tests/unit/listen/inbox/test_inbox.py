"""The seam: any inbox carries the whole relay, and its two halves share nothing else."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.clocks import ManualClock
from support.listening import (
    NOW,
    OK,
    SECRET,
    RunningListener,
    TargetServer,
    delivery,
    event,
    listening,
    plan_for,
    status_line,
)
from support.serving import free_port
from svc.clock import SystemClock
from svc.listen.forward.dispatcher import Dispatcher, DispatcherDeps
from svc.listen.forward.pending_acks import PendingAcks
from svc.listen.forward.pump import ForwardOptions
from svc.listen.http.requests import HttpHead, HttpRequest
from svc.listen.inbox.commit import InboxWriter
from svc.listen.inbox.interfaces import Inbox
from svc.listen.ingest import Ingest, IngestDeps
from svc.listen.output_records import Left, ListenerRecord
from svc.listen.progress import ListenerProgress
from svc.listen.routes import Routes
from svc.listen.running.senders import sender_for
from svc.listen.verify.verify import Intake
from svc.signature import header_value
from unit.listen.inbox.memory_inbox import MemoryInbox


class Remembering(RunningListener):
    """A listener on an inbox that a test holds."""

    inbox: Inbox

    def make_inbox(self) -> Inbox:
        return self.inbox


@contextmanager
def on(
    inbox: MemoryInbox, folder: Path, *forward_to: int, **told: object
) -> Iterator[RunningListener]:
    plan = plan_for(*forward_to, **told)
    listener = Remembering(folder / "state" / "state.db", plan, ManualClock(NOW))
    listener.inbox = inbox
    listener.start()
    try:
        yield listener
    finally:
        listener.stop()


def test_relay_runs_on_another_inbox(tmp_path: Path) -> None:
    """R50 on an inbox in memory: once each, copies marked, what was left is forwarded later."""
    inbox, port = MemoryInbox(), free_port()
    with on(inbox, tmp_path, port) as listener:
        for number in range(40):
            assert listener.send(event(number)) == 200
        assert listener.send(event(7)) == 200
        assert listener.stop().pending == 40
    with (
        TargetServer(port=port) as target,
        on(inbox, tmp_path, target.port, forwarding=ForwardOptions(1)) as listener,
    ):
        listener.forwards(40)
        assert listener.send(event(8)) == 200
        assert listener.send(event(40)) == 200
        listener.forwards(41)
        assert (listener.stop().duplicates, listener.stop().pending) == (1, 0)
    assert target.ids == [f"evt_{number}" for number in range(41)]
    assert {one.outcome for one in inbox.entries.values()} == {"forwarded"}


def test_ack_forwarded_works_on_another_inbox(tmp_path: Path) -> None:
    """R50, R51: the verdict goes back, and what failed is taken again when the sender retries."""
    inbox = MemoryInbox(retake_failed=True)
    with (
        TargetServer(lambda _: status_line(500)) as target,
        on(inbox, tmp_path, target.port, ack="forwarded") as listener,
    ):
        assert listener.send(event()) == 502
        target.reply = lambda _: OK
        assert listener.send(event()) == 200
        assert listener.send(event()) == 200
        assert [one.attempt for one in listener.forwards(2)] == [1, 2]
    assert len(target.received) == 2


class Half:
    """An event loop in a thread of its own, standing for a process."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()

    def do(self, call: Callable[[], None]) -> None:
        async def run() -> None:
            call()

        asyncio.run_coroutine_threadsafe(run(), self.loop).result(10)

    def close(self, *writers: InboxWriter) -> None:
        for writer in writers:
            asyncio.run_coroutine_threadsafe(writer.close(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


class Receiving(Half):
    """The receiving half; all it knows of the other one is whom to wake."""

    def __init__(self, inbox: Inbox, routes: Routes, wake: Callable[[], None]) -> None:
        super().__init__()
        self.statuses: list[int] = []

        def make() -> None:
            self.writer = InboxWriter(inbox)
            deps = IngestDeps(
                self.writer,
                PendingAcks(),
                ListenerProgress(None),
                SystemClock(),
                lambda _: None,
                lambda *_: wake(),
                lambda: None,
            )
            self.ingest = Ingest(Intake([SECRET]), routes, "test", "received", deps)

        self.do(make)

    def take(self, body: bytes) -> None:
        value = header_value(body, [SECRET], int(time.time())).encode()
        head = HttpHead(b"POST", b"/", (), {b"svc-signature": [value]})
        self.do(lambda: self.ingest.take(HttpRequest(head, body), self.statuses.append))


class Forwarding(Half):
    """The forwarding half; it has only the inbox."""

    def __init__(self, inbox: Inbox, routes: Routes) -> None:
        super().__init__()
        self.told: list[ListenerRecord] = []

        def make() -> None:
            self.writer = InboxWriter(inbox)
            deps = DispatcherDeps(
                inbox,
                self.writer,
                PendingAcks(),
                ListenerProgress(None),
                SystemClock(),
                self.told.append,
                lambda: None,
            )
            self.dispatcher = Dispatcher(routes, ForwardOptions(), sender_for, deps)
            self.starting = self.loop.create_task(self.dispatcher.start())

        self.do(make)

    def wake(self) -> None:
        self.loop.call_soon_threadsafe(self.dispatcher.look)

    def close(self, *writers: InboxWriter) -> None:
        asyncio.run_coroutine_threadsafe(self.dispatcher.close(0.5), self.loop).result(10)
        super().close(*writers)


def test_halves_work_apart_with_only_the_inbox_between_them() -> None:
    """Receiver and forwarder on two loops: every event is forwarded once, and its end is stored."""
    inbox = MemoryInbox()
    with TargetServer() as target:
        routes = Routes.parse([str(target.port)])
        forwarding = Forwarding(inbox, routes)
        receiving = Receiving(inbox, routes, forwarding.wake)
        try:
            for number in range(100):
                receiving.take(event(number % 80))
            end = time.monotonic() + 10
            while len(forwarding.told) < 80 or {one.outcome for one in inbox.entries.values()} != {
                "forwarded"
            }:
                assert time.monotonic() < end, len(forwarding.told)
                time.sleep(0.01)
        finally:
            receiving.close(receiving.writer)
            forwarding.close(forwarding.writer)
    assert receiving.statuses == [200] * 100
    assert sorted(target.ids) == sorted(f"evt_{number}" for number in range(80))


def test_what_was_left_is_told_and_not_forwarded_without_resume(tmp_path: Path) -> None:
    """`--no-resume`: old events are listed and stay open; new ones are forwarded."""
    port = free_port()
    with listening(tmp_path, port) as listener:
        for number in range(70):
            listener.send(event(number))
    with TargetServer(port=port) as target:
        with listening(tmp_path, target.port, resume=False) as listener:
            assert listener.send(event(3)) == 200
            assert listener.send(event(100)) == 200
            listener.forwards(1)
            left = listener.told(Left, 70)
            summary = listener.stop()
        assert target.ids == ["evt_100"]
        assert [one.id for one in left] == [f"evt_{number}" for number in range(70)]
        assert left[0].to_dict()["record"] == "left"
        assert (summary.pending, summary.duplicates, summary.forwarded) == (0, 1, 1)
        with listening(tmp_path, target.port) as listener:
            listener.forwards(70)
    assert sorted(target.ids) == sorted({f"evt_{n}" for n in (*range(70), 100)})


@pytest.mark.parametrize("resume", [True, False])
def test_sender_that_waits_for_an_old_event_has_it_forwarded(resume: bool, tmp_path: Path) -> None:
    """R50 under `--ack forwarded`: a retry after a restart gets the target's answer, once."""
    port = free_port()
    with listening(tmp_path, port, ack="received") as listener:
        listener.send(event(1))
        listener.send(event(2))
    with (
        TargetServer(port=port) as target,
        listening(tmp_path, target.port, ack="forwarded", resume=resume) as listener,
    ):
        assert listener.send(event(1)) == 200
        listener.forwards(2 if resume else 1)
        assert listener.send(event(1)) == 200
        listener.events(2)
    assert target.ids.count("evt_1") == 1
    assert target.ids.count("evt_2") == int(resume)


def test_the_newest_of_what_was_left_is_taken_up_too(tmp_path: Path) -> None:
    """`--no-resume --ack forwarded`: it is sent when it comes again, and pending until it ended."""
    port = free_port()
    with listening(tmp_path, port, ack="received") as listener:
        listener.send(event(1))
        listener.send(event(2))
    hang = ForwardOptions(seconds=5)
    with (
        TargetServer(lambda _: None, port=port) as target,
        listening(
            tmp_path, target.port, ack="forwarded", resume=False, forwarding=hang
        ) as listener,
        listener.peer() as sender,
    ):
        sender.sendall(delivery(event(2)))
        listener.until(lambda: target.ids == ["evt_2"])
        assert listener.stop().pending == 1
    with TargetServer(port=port) as target:
        with listening(tmp_path, target.port, ack="forwarded", resume=False) as listener:
            assert listener.send(event(2)) == 200
            assert listener.stop().pending == 0
        assert target.ids == ["evt_2"]


def test_only_the_target_that_failed_is_asked_again(tmp_path: Path) -> None:
    """`--ack forwarded`, two targets: the sender's retry goes to the one that did not take it."""
    with TargetServer() as good, TargetServer(lambda _: status_line(503)) as bad:
        with listening(tmp_path, good.port, bad.port, ack="forwarded") as listener:
            assert listener.send(event()) == 502
            bad.reply = lambda _: OK
            assert listener.send(event()) == 200
        assert (len(good.received), len(bad.received)) == (1, 2)
