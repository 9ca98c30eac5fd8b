"""How many webhooks a second the sandbox delivers to a fast receiver on this machine.

    python tests/benchmarks/bench_webhooks.py [--events N] [--endpoints N] [--runs N] [--folder DIR]

The engine runs here over a database file, the receiver in a process of its own that answers 200 and
no more. In the same run, in the other order each round: the same engine whose sender is httpx's own
pool, and a floor that signs nothing, keeps nothing and writes ready-made requests to as many
connections. A ratio is one of the same round, of processor time: of a machine that others use only
that says something.
"""

import asyncio
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Coroutine
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.command import parser
from svc.sandbox.engine import Engine
from svc.sandbox.resources import webhook_endpoints
from svc.sandbox.store.sqlite import Store
from svc.sandbox.store.transaction import Transaction
from svc.sandbox.webhooks.sender import (
    CONNECTIONS_MAX,
    KEPT_MAX,
    KEPT_SECONDS,
    HttpSender,
    Outgoing,
    ReceiverReply,
    WebhookSender,
)

TARGET = 2000
AT_ONCE = 8  # of each endpoint, as the sandbox does it
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
_TYPE = "order.cancelled"


class ReceiverProtocol(asyncio.Protocol):
    """Answers each request once its body is there; every request is as long as the first."""

    def __init__(self) -> None:
        self._got = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._got += data
        head, found, body = self._got.partition(b"\r\n\r\n")
        if not found:
            return
        at = head.lower().index(b"content-length:") + len(b"content-length:")
        if len(body) >= int(head[at:].split(b"\r\n")[0]):
            self._got = b""
            self._transport.write(_ANSWER)


def receive(port: Connection) -> None:
    """Runs a receiver until it is killed."""

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(ReceiverProtocol, "127.0.0.1", 0)
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


Measure = Callable[[Path, int, Namespace], Coroutine[Any, Any, tuple[float, float]]]


class PoolSender:
    """Sends as the sandbox would with the pool that httpx brings."""

    def __init__(self) -> None:
        import httpx

        limits = httpx.Limits(
            max_connections=CONNECTIONS_MAX,
            max_keepalive_connections=KEPT_MAX,
            keepalive_expiry=KEPT_SECONDS,
        )
        self._client = httpx.AsyncClient(limits=limits, trust_env=False)

    async def send(self, outgoing: Outgoing) -> ReceiverReply:
        reply = await self._client.post(
            outgoing.url, headers=list(outgoing.headers), content=outgoing.body
        )
        return ReceiverReply(reply.status_code, None, 0)

    async def close(self) -> None:
        await self._client.aclose()


def through(sender: Callable[[], WebhookSender]) -> Measure:
    """Delivers with a sender of this kind."""

    async def measure(folder: Path, port: int, asked: Namespace) -> tuple[float, float]:
        return await deliver(folder, port, asked, sender())

    return measure


async def deliver(
    folder: Path, port: int, asked: Namespace, sender: WebhookSender
) -> tuple[float, float]:
    """Queues all events, lets them go, and gives real and processor seconds of the delivery."""
    engine = Engine(Store.open(str(folder / "sandbox.db")), sender=sender)

    def fill(tx: Transaction) -> None:
        tx.update_settings({"webhook_delivery": "manual"})
        url = f"http://127.0.0.1:{port}/hook"
        for _ in range(asked.endpoints):
            webhook_endpoints.create(tx, {"url": url, "events": [_TYPE]})
        for number in range(asked.events // asked.endpoints):
            tx.emit(_TYPE, {"id": f"ord_{number}", "object": "order", "text": "x" * 1000})

    def left(tx: Transaction) -> int:
        return int(tx.store.all("SELECT COUNT(*) FROM jobs")[0][0])

    await engine.start()
    await engine.run("test", fill)
    begun, used = time.perf_counter(), time.process_time()
    await engine.run("test", lambda tx: tx.update_settings({"webhook_delivery": "auto"}))
    engine.runner.wake()
    while engine.read("test", left):  # noqa: ASYNC110  the engine has no event for it
        await asyncio.sleep(0.02)
    seconds = time.perf_counter() - begun, time.process_time() - used
    await engine.stop()
    return seconds


class FloorProtocol(asyncio.Protocol):
    """Sends the same request again with each answer, as long as there are any left."""

    def __init__(self, request: bytes, left: list[None], done: "asyncio.Future[None]") -> None:
        self._request, self._left, self._done = request, left, done

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.data_received(b"")

    def data_received(self, data: bytes) -> None:
        if self._left:
            self._left.pop()
            self._transport.write(self._request)
        elif not self._done.done():
            self._done.set_result(None)


async def floor(_: Path, port: int, asked: Namespace) -> tuple[float, float]:
    """As many requests of about the same length over as many connections."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    head = b"POST /hook HTTP/1.1\r\nHost: x\r\nSvc-Signature: " + b"x" * 200
    request = head + b"\r\nContent-Length: 1200\r\n\r\n" + b"x" * 1200
    left = [None] * asked.events
    begun, used = time.perf_counter(), time.process_time()
    for _number in range(AT_ONCE * asked.endpoints):
        await loop.create_connection(lambda: FloorProtocol(request, left, done), "127.0.0.1", port)
    await done
    return time.perf_counter() - begun, time.process_time() - used


def main() -> None:
    """Prints a line for each, and whether the target is met."""
    command = parser(__doc__)
    command.add_argument("--events", type=int, default=4000)
    command.add_argument("--endpoints", type=int, default=4, help=f"each takes {AT_ONCE} at a time")
    command.add_argument("--runs", type=int, default=3, help="measurements of each kind")
    command.add_argument("--folder", help="where the database lies; default: a temporary folder")
    asked = command.parse_args()
    kinds = {"svc": through(HttpSender), "httpx's pool": through(PoolSender), "floor": floor}
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    receiver = context.Process(target=receive, args=(theirs,), daemon=True)
    receiver.start()
    try:
        found = rounds(kinds, ours.recv(), asked)
    finally:
        receiver.kill()
    show(found, asked.events)


def rounds(
    kinds: dict[str, Measure], port: int, asked: Namespace
) -> dict[str, list[tuple[float, float]]]:
    """Measures everybody in turns, in the other order each time."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in kinds}
    for number in range(asked.runs):
        for name in list(kinds)[:: -1 if number % 2 else 1]:
            with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
                found[name].append(asyncio.run(kinds[name](Path(folder), port, asked)))
    return found


def show(found: dict[str, list[tuple[float, float]]], events: int) -> None:
    """Prints medians, and how much less processor time svc takes than another of the same round."""
    for name, seconds in found.items():
        real, used = (statistics.median(column) for column in zip(*seconds, strict=True))
        ratios = [its / ours for (_, ours), (_, its) in zip(found["svc"], seconds, strict=True)]
        beside = "" if name == "svc" else f"  {statistics.median(ratios):.2f} x the time of svc"
        print(
            f"{name:12}{events / real:7,.0f} webhooks/s,{1e6 * used / events:6.0f} us of CPU each:"
            f"{events / used:7,.0f}/s with a core to itself{beside}"
        )
    alone = events / statistics.median(used for _, used in found["svc"])
    print(
        f"{'meets' if alone >= TARGET else 'MISSES'} the target of {TARGET:,}/s with a core to itself"
        f" (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)"
    )


if __name__ == "__main__":
    main()
