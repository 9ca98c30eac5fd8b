"""Engines over one file on a clock that is set, and a receiver that answers by the book."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from support.clocks import ManualClock
from svc.errors import LocalError
from svc.sandbox.clock import micros, parse
from svc.sandbox.engine import Engine, Fixture
from svc.sandbox.jobs.handlers import HANDLERS
from svc.sandbox.jobs.runner import JobHandler
from svc.sandbox.resources import webhook_endpoints
from svc.sandbox.store import jobs
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.sqlite import Store
from svc.sandbox.store.transaction import Transaction
from svc.sandbox.webhooks.sender import WebhookSender

T = TypeVar("T")
START = "2026-10-01T09:00:00Z"
BEGAN = micros(parse(START))


@dataclass
class ReceivedHook:
    """One request as the receiver saw it; `at` is the sandbox's clock in seconds after START."""

    at: float
    headers: dict[str, str]
    body: bytes
    connection: int


Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]


async def export(engine: Engine) -> Doc:
    """The whole state of a sandbox."""
    with await engine.export() as file:
        state: Doc = json.load(file)
        return state


@asynccontextmanager
async def serving(
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]],
    context: ssl.SSLContext | None = None,
) -> AsyncIterator[int]:
    """A server on loopback that leaves no connection open; gives its port."""
    writers: list[asyncio.StreamWriter] = []
    tasks: set[asyncio.Task[None]] = set()

    # A task of our own: before Python 3.12.4 one of asyncio's that is cancelled closes nothing.
    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        tasks.add(asyncio.ensure_future(serve(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for _ in range(5):  # who came last is accepted by then, and closed as all others
            await asyncio.sleep(0)
        for writer in writers:
            writer.transport.abort()
        await asyncio.sleep(0)


@dataclass
class ScriptedReceiver:
    """A webhook receiver on loopback; `answers` are played in turn, the last one for ever."""

    answers: list[Answer] = field(default_factory=list)
    arrivals: list[ReceivedHook] = field(default_factory=list)
    engine: Engine | None = None
    url: str = ""
    open_now: int = 0
    open_most: int = 0
    _connections: int = 0

    @asynccontextmanager
    async def listening(self) -> AsyncIterator["ScriptedReceiver"]:
        async with serving(self._serve) as port:
            self.url = f"http://127.0.0.1:{port}/hook"
            yield self

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        connection = self._connections
        try:
            while head := await self._read_head(reader):
                body = await reader.readexactly(int(head["content-length"]))
                self.arrivals.append(ReceivedHook(self._now(), head, body, connection))
                await self._answer(writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, writer: asyncio.StreamWriter) -> None:
        self.open_now += 1
        self.open_most = max(self.open_most, self.open_now)
        try:
            play = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            await play(writer)
            await writer.drain()
        finally:
            self.open_now -= 1

    async def _read_head(self, reader: asyncio.StreamReader) -> dict[str, str]:
        try:
            raw = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return {}
        lines = raw.decode().split("\r\n")[1:-2]
        return {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}

    def _now(self) -> float:
        if self.engine is None:
            return 0.0
        return (self.engine.clock.now() - BEGAN) / 1_000_000


def answer_with(code: int, headers: str = "", body: bytes = b"") -> Answer:
    """Answers with a status at once."""

    async def play(writer: asyncio.StreamWriter) -> None:
        head = f"HTTP/1.1 {code} X\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)

    return play


def after(gate: asyncio.Event, then: Answer) -> Answer:
    """Answers when a gate opens."""

    async def play(writer: asyncio.StreamWriter) -> None:
        await gate.wait()
        await then(writer)

    return play


@dataclass
class Lab:
    """Builds engines over one file; time is real nowhere."""

    path: str
    real: ManualClock = field(default_factory=lambda: ManualClock(parse(START).timestamp()))
    naps: list[float | None] = field(default_factory=list)
    handlers: dict[str, JobHandler] = field(
        default_factory=lambda: {jobs.DISABLE: HANDLERS[jobs.DISABLE]}
    )
    fixture: Fixture | None = None
    under_way: int = 0  # requests, as a server would count them; 0: nobody knows

    @asynccontextmanager
    async def running(
        self,
        *,
        path: str | None = None,
        frozen: bool = True,
        seed: int | None = 7,
        sender: WebhookSender | None = None,
        settings: Mapping[str, Any] | None = None,
        store: type[Store] = Store,
    ) -> AsyncIterator[Engine]:
        """A started engine; frozen at START the first time, if it is to be frozen."""
        engine = self.engine(path=path, seed=seed, sender=sender, store=store)
        fresh = engine.is_new
        try:
            if fresh:
                await engine.reset()
            if fresh and frozen:
                await engine.set_clock("frozen")
            if settings:
                await engine.run("test", lambda tx: tx.update_settings(settings))
            await engine.start()
            yield engine
        finally:
            await engine.stop()

    def engine(
        self,
        *,
        path: str | None = None,
        seed: int | None = 7,
        sender: WebhookSender | None = None,
        store: type[Store] = Store,
    ) -> Engine:
        opened = store.open(path or self.path)
        try:
            return Engine(
                opened,
                handlers=self.handlers,
                fixture=self.fixture,
                seed=seed,
                clock=self.real,
                sender=sender,
                pause=self.nap,
                under_way=lambda: self.under_way,
            )
        except LocalError:
            opened.close()  # else as the process ends
            raise

    async def nap(self, woken: asyncio.Event, seconds: float | None) -> None:
        """Stands in for real waiting: notes how long it would be, and waits to be woken only."""
        self.naps.append(seconds)
        await woken.wait()


def new_order(tx: Transaction, **changes: Any) -> Doc:
    """Adds a small order."""
    doc: Doc = {
        "id": tx.new_id("ord_"),
        "object": "order",
        "status": "requires_payment",
        "amount": 100,
        "created": tx.now_text,
        "_client_secret": "hidden",
        **changes,
    }
    tx.add(doc)
    return doc


def emit_paid(tx: Transaction, **changes: Any) -> str:
    """Adds an order and emits order.paid for it; returns the event's id."""
    event: str = tx.emit("order.paid", new_order(tx, **changes))["id"]
    return event


def add_endpoint(url: str, *types: str) -> Callable[[Transaction], Doc]:
    """Registers an endpoint for these types, or for order.paid."""

    def add(tx: Transaction) -> Doc:
        events = list(types) or ["order.paid"]
        return webhook_endpoints.create(tx, {"url": url, "events": events})

    return add
