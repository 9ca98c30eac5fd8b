"""A listener in a thread, a target that does as it is told, and a sender that may misbehave."""

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from support.clocks import ManualClock
from support.serving import free_port
from support.suite.patience import WAIT_SECONDS, until
from svc.clock import Clock
from svc.listen.inbox.interfaces import ForwardAttempt, ForwardVerdict, InboundEvent, Inbox
from svc.listen.inbox.sqlite import open_inbox
from svc.listen.listener import Listener, OpenSource
from svc.listen.output_records import EventReceived, Forwarded, ListenerRecord, Rejected, Summary
from svc.listen.plan import ListenerPlan
from svc.listen.receiver.server import bind
from svc.listen.routes import Routes
from svc.listen.verify.verify import Delivery, read_facts
from svc.signature import header_value
from svc.state import Database

T = TypeVar("T")
SECRET = "whsec_test_4fQzN7cPq2LrTxVb9KdYhWm3"
NOW = 1_700_000_000
PATH = "/hook/0123456789abcdef0123456789abcdef"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def status_line(status: int) -> bytes:
    return b"HTTP/1.1 %d Said\r\nContent-Length: 0\r\n\r\n" % status


def event(number: int = 1, event_type: str = "order.paid", **more: Any) -> bytes:
    """One event as the service would write it; `more` replaces or adds top-level fields."""
    changed = {"id": f"ord_{number}", "object": "order", "amount": 12900, "amount_total": 15708}
    body = {
        "id": f"evt_{number}",
        "object": "event",
        "type": event_type,
        "created": "2023-11-14T22:13:20Z",
        "livemode": False,
        "data": {"object": {**changed, "currency": "EUR"}},
    }
    return json.dumps({**body, **more}, separators=(",", ":")).encode()


def delivery(body: bytes, *, now: int = NOW, secret: str = SECRET, **headers: str) -> bytes:
    """The bytes of one request with a good signature; headers are added or, if empty, left out."""
    fields = {
        "Host": "127.0.0.1",
        "Content-Type": "application/json; charset=utf-8",
        "Svc-Signature": header_value(body, [secret], now),
        "Svc-Event-Id": "evt_1",
        "Content-Length": str(len(body)),
    }
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value)
    return f"POST {PATH} HTTP/1.1\r\n{lines}\r\n".encode("latin-1") + body


def arrival(
    body: bytes, lines: bytes = b"", at: float = NOW, outcome: Any = None, **more: Any
) -> InboundEvent:
    """An event as an inbox is given it, with these lines of headers."""
    return InboundEvent(Delivery(body, lines, at, read_facts(body)), outcome, **more)


def talk(port: int, data: bytes, *, seconds: float = WAIT_SECONDS) -> bytes:
    """Sends bytes and gives the first answer (all of them have empty bodies), or what came."""
    with socket.create_connection(("127.0.0.1", port), seconds) as peer:
        with suppress(BrokenPipeError, ConnectionResetError):  # answered before the body was sent
            peer.sendall(data)
        return read_answer(peer)


def read_answer(peer: socket.socket) -> bytes:
    answer = b""
    with suppress(ConnectionResetError):
        while b"\r\n\r\n" not in answer and (more := peer.recv(4096)):
            answer += more
    return answer


def status(answer: bytes) -> int:
    return int(answer.split()[1]) if answer else 0


@dataclass
class Received:
    """A request as the target got it."""

    head: bytes
    body: bytes

    def header(self, name: str) -> list[bytes]:
        start = f"{name.lower()}:".encode()
        lines = self.head.split(b"\r\n")
        return [line.split(b":", 1)[1].strip() for line in lines if line.lower().startswith(start)]


@dataclass
class TargetServer:
    """A server that answers each request with what `reply` says.

    None keeps silent for ever, no bytes close the connection.
    """

    reply: Callable[[Received], bytes | None] = lambda _: OK
    received: list[Received] = field(default_factory=list)
    connections: int = 0

    port: int = 0
    peers: list[socket.socket] = field(default_factory=list)

    def __enter__(self) -> Self:
        self.port = self.port or free_port()  # its own also while it is away
        self._server = socket.create_server(("127.0.0.1", self.port), backlog=128)
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._threads[0].join()
        for peer in self.peers:
            with suppress(OSError):
                peer.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    @property
    def ids(self) -> list[str]:
        return [json.loads(one.body)["id"] for one in self.received]

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self._server.accept()
            except OSError:
                return
            self.connections += 1
            self.peers.append(peer)
            self._threads.append(threading.Thread(target=self._serve, args=(peer,)))
            self._threads[-1].start()

    def _serve(self, peer: socket.socket) -> None:
        with peer:
            data = b""
            while True:
                try:
                    more = peer.recv(1 << 20)
                except OSError:
                    return
                if not more:
                    return
                data = self._answer(peer, data + more)

    def _answer(self, peer: socket.socket, data: bytes) -> bytes:
        head, end, rest = data.partition(b"\r\n\r\n")
        request = Received(head, b"")
        length = int((request.header("content-length") or [b"0"])[0]) if end else 0
        if not end or len(rest) < length:
            return data
        request.body = rest[:length]
        self.received.append(request)
        answer = self.reply(request)
        if answer is not None:
            with suppress(OSError):
                peer.sendall(answer)
                if not answer:
                    peer.shutdown(socket.SHUT_RDWR)
                elif b"close" in answer[:200].lower():
                    peer.shutdown(socket.SHUT_WR)
        return rest[length:]


class RunningListener:
    """A running relay and everything that it has told."""

    def __init__(self, state: Path, plan: ListenerPlan, clock: Clock) -> None:
        self._open = ExitStack()
        self.path = state
        self._clock = clock
        self.state = self.open_state()
        self._plan = plan
        self._bound = bind()
        self.port: int = self._bound.getsockname()[1]
        self.records: list[ListenerRecord] = []
        self.summary: Summary | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()))
        self._loop: asyncio.AbstractEventLoop | None = None
        self.bugs: list[dict[str, Any]] = []

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(lambda _, context: self.bugs.append(context))
        self._relay = Listener(self._plan, self.make_inbox(), self._clock, self.tell)
        self.summary = await self._relay.run(self.source())

    def source(self) -> socket.socket | OpenSource:
        return self._bound

    def tell(self, record: ListenerRecord) -> None:
        self.records.append(record)

    def make_inbox(self) -> Inbox:
        retake = self._plan.ack == "forwarded"
        return open_inbox(self.open_state, "test", self._clock, retake_failed=retake)

    def open_state(self) -> Database:
        return self._open.enter_context(Database.open(self.path, clock=self._clock))

    def start(self) -> None:
        self._thread.start()
        self.until(lambda: bool(self.records))

    def run_here(self) -> None:
        """Runs it in this thread, for what it raises."""
        try:
            asyncio.run(self._run())
        finally:
            self._open.close()
            self._bound.close()

    def stop(self) -> Summary:
        """Ends it as a signal would and gives its last record."""
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended by itself, and its loop is closed
                self._loop.call_soon_threadsafe(self._relay.stop)
        self._thread.join(WAIT_SECONDS)
        assert not self._thread.is_alive()
        self._open.close()
        self._bound.close()
        assert self.summary is not None
        return self.summary

    def until(self, true: Callable[[], bool]) -> None:
        """Waits until something is so."""
        until(true, lambda: self.records[-3:])

    def peer(self) -> socket.socket:
        """A connection for several deliveries."""
        return socket.create_connection(("127.0.0.1", self.port), WAIT_SECONDS)

    def send(self, body: bytes, **headers: Any) -> int:
        """Delivers one event and gives the status of the answer."""
        return status(talk(self.port, delivery(body, **headers)))

    def told(self, kind: type[T], count: int = 0) -> list[T]:
        """Gives all records of a kind, once there are at least so many."""
        self.until(lambda: len(self._all(kind)) >= count)
        return self._all(kind)

    def _all(self, kind: type[T]) -> list[T]:
        return [record for record in tuple(self.records) if isinstance(record, kind)]

    def events(self, count: int = 0) -> list[EventReceived]:
        return self.told(EventReceived, count)

    def rejected(self, count: int = 0) -> list[Rejected]:
        return self.told(Rejected, count)

    def forwards(self, count: int = 0) -> list[Forwarded]:
        return self.told(Forwarded, count)


def plan_for(*forward_to: str | int, **told: Any) -> ListenerPlan:
    """A plan with the secret and the path of these tests."""
    plan = ListenerPlan(
        mode="test",
        secrets=(SECRET,),
        path=PATH,
        url="http://127.0.0.1/x",
        routes=Routes.parse([str(one) for one in forward_to]),
    )
    return replace(plan, **told)


@contextmanager
def listening(
    folder: Path, *forward_to: str | int, clock: Clock | None = None, **told: Any
) -> Iterator[RunningListener]:
    """Runs a listener on a state database in `folder`; `told` goes into its plan."""
    plan = plan_for(*forward_to, **told)
    listener = RunningListener(folder / "state" / "state.db", plan, clock or ManualClock(NOW))
    listener.start()
    try:
        yield listener
    finally:
        listener.stop()


# What became of an event at its targets: null while it is open at one of them.
OUTCOME: Final = """IIF(EXISTS (SELECT 1 FROM targets t JOIN ledger ON target = t.id AND event = seq),
  (SELECT CASE WHEN MIN(state) < 4 THEN NULL ELSE
    CASE MAX(state) WHEN 4 THEN 'forwarded' WHEN 5 THEN 'failed' WHEN 6 THEN 'returned'
    ELSE 'reset' END END
  FROM targets t JOIN ledger ON target = t.id AND event = seq), COALESCE(outcome, 'unrouted'))
AS outcome"""


def outcomes(state: Database) -> list[str | None]:
    """How each event ended, in the order of their arrival; None where one is still open."""
    return [row["outcome"] for row in state.rows(f"SELECT {OUTCOME} FROM inbox ORDER BY seq")]


def attempt(
    seq: int, url: str = "http://a", verdict: ForwardVerdict = "done", **more: object
) -> ForwardAttempt:
    """An attempt that ended so; `more` replaces its other facts."""
    status = 200 if verdict == "done" else 500
    facts: dict[str, object] = {
        "type": "order.paid",
        "number": 1,
        "started_at": 1_700_000_000.0,
        "milliseconds": 5.0,
        "status": status,
        "error": None,
        "reply": b"",
    }
    return ForwardAttempt(seq, target=url, verdict=verdict, **(facts | more))  # type: ignore[arg-type]


def ended(seqs: Iterable[int], verdict: ForwardVerdict = "done") -> list[ForwardAttempt]:
    """One attempt for each of some events that left it so."""
    return [attempt(seq, verdict=verdict) for seq in seqs]
