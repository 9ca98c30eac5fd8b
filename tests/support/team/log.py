"""Parts of a team on one machine: a log with its streams, receivers, laptops and jobs in threads."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from support.listening import NOW, SECRET, RunningListener, arrival, event, plan_for
from support.suite.patience import WAIT_SECONDS
from support.team.servers import Servers
from svc.clock import Clock, SystemClock
from svc.errors import SvcError
from svc.listen.forward.pending_acks import status_for_group
from svc.listen.forward.pump import ForwardOptions
from svc.listen.forward.signing import sign_anew
from svc.listen.inbox.interfaces import Batch, InboundEvent, Inbox, Position, StoreResult
from svc.listen.inbox.sqlite import SqliteInbox
from svc.listen.listener import OpenSource
from svc.listen.log import group, log_cursor, streams
from svc.listen.log.address import LogAddress
from svc.listen.log.connection import LogConnection
from svc.listen.log.credentials import Credentials
from svc.listen.log.inboxes import LogInbox
from svc.listen.log.messages import Trust
from svc.listen.plan import ListenerPlan
from svc.signature import header_value

ORIGIN = "https://api.example.com"
OWN = "whsec_test_9zzN7cPq2LrTxVb9KdYhWm3"
KEY = "logkey_" + "k" * 43
_CLOCK = SystemClock()


def address_of(running: Servers, name: str = "shop") -> LogAddress:
    return LogAddress.parse(running.url(name), "--to")


def connect(running: Servers, credentials: str = "", name: str = "shop") -> LogConnection:
    return LogConnection(address_of(running, name), Credentials.parse(credentials or KEY, "test"))


def trust_in(running: Servers, *given: str, known: Sequence[str] = ()) -> Trust:
    """What messages of the log are judged by."""
    return Trust(address_of(running).stream("test"), (KEY,), given, tuple(known))


def make_streams(running: Servers, credentials: str = "", **more: Any) -> None:
    """Makes the streams of test mode, as `svc events log create` does."""
    replicas = 3 if len(running.nodes) > 2 else 1
    with connect(running, credentials) as connection:
        wanted = streams.events_stream(connection.address, "test", ORIGIN, replicas, 1 << 30, KEY)
        failed = streams.describe_failed_stream(connection.address, "test", replicas)
        readers = streams.readers_stream(connection.address, "test", replicas)
        for stream in ({**wanted, **more}, failed, readers):
            wait_for(partial(_made, connection, stream))


def _made(connection: LogConnection, stream: dict[str, Any]) -> bool:
    """Makes a stream; not at once where a cluster has just begun and does not know its servers."""
    try:
        connection.run(streams.make(connection, stream))
    except SvcError:
        return False
    return True


def inbound(number: int, event_type: str = "order.paid", **more: Any) -> InboundEvent:
    body = event(number, event_type, **more)
    return arrival(body, f"Svc-Signature: {header_value(body, [SECRET], NOW)}\r\n".encode())


def publish(connection: LogConnection, numbers: Sequence[int], **more: Any) -> list[StoreResult]:
    """Puts events into the log as a receiver does, in groups as its keeper makes them."""
    inbox, kept = LogInbox(connection, "test", KEY), []
    for start in range(0, len(numbers), 256):
        group_of = [inbound(number, **more) for number in numbers[start : start + 256]]
        for one in inbox.store(Batch(group_of)):
            assert isinstance(one, StoreResult), one
            kept.append(one)
    return kept


class FromLog(RunningListener):
    """A listener whose source is the log."""

    def __init__(
        self,
        folder: Path,
        plan: ListenerPlan,
        make: Callable[[SqliteInbox], OpenSource],
        clock: Clock | None = None,
    ) -> None:
        super().__init__(folder / "state" / "state.db", plan, clock or SystemClock())
        self._make = make
        self.inbox = SqliteInbox(self.state, "test", retake_failed=plan.ack == "forwarded")

    def make_inbox(self) -> Inbox:
        return self.inbox

    def source(self) -> OpenSource:
        return self._make(self.inbox)


def _sign(headers: bytes, body: bytes) -> tuple[bytes, bool]:
    return sign_anew(headers, body, [OWN], _CLOCK.now()), False


@contextmanager
def _at_work(listener: FromLog) -> Iterator[FromLog]:
    listener.start()
    try:
        yield listener
    finally:
        listener.stop()


@contextmanager
def laptop(
    running: Servers,
    folder: Path,
    *forward_to: int,
    name: str = "anna",
    credentials: str = "",
    filters: tuple[str, ...] = (),
    **told: Any,
) -> Iterator[FromLog]:
    """A listener with a position of its own; it begins where the log begins."""
    plan = replace(plan_for(*forward_to, signs=_sign), **told)
    with connect(running, credentials) as connection:

        def make(inbox: SqliteInbox) -> OpenSource:
            if inbox.position() is None:
                inbox.begin_at(Position(0, ""))
            cursor = log_cursor.Cursor(name, "test", trust_in(running), filters)
            place = log_cursor.Place(inbox.position, inbox.begin_at)
            return partial(log_cursor.CursorSource, connection, cursor, place, _CLOCK)

        with _at_work(FromLog(folder, plan, make)) as listener:
            yield listener


@contextmanager
def job(
    running: Servers, folder: Path, *forward_to: str | int, credentials: str = "", **told: Any
) -> Iterator[FromLog]:
    """One of those who share the queue `ci`."""
    plan = plan_for(*forward_to, signs=_sign, ack="forwarded", verdict=status_for_group)
    plan = replace(plan, **{"forwarding": ForwardOptions(retry="off"), **told})
    with connect(running, credentials) as connection:
        queue = group.ConsumerGroup("ci", "test", plan.forwarding.concurrency, trust_in(running))
        connection.run(group.ensure(connection, queue, {"deliver_policy": "all"}))

        def make(inbox: SqliteInbox) -> OpenSource:
            inbox.hand_back()
            return partial(group.GroupSource, connection, queue, plan.routes.targets, _CLOCK)

        with _at_work(FromLog(folder, plan, make)) as listener:
            yield listener


def wait_for(true: Callable[[], bool], seconds: float = WAIT_SECONDS) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)
