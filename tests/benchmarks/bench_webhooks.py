"""How many webhooks a second the sandbox delivers to a fast receiver on this machine.

Run it by hand: `python tests/benchmarks/bench_webhooks.py [--events N] [--endpoints N]`. The engine
runs here over a database file, the receiver in a process of its own that answers 200 and no more.
Of a machine that others use only the processor time says something.
"""

import argparse
import asyncio
import multiprocessing
import os
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

from svc.sandbox.engine import Engine
from svc.sandbox.resources import webhook_endpoints
from svc.sandbox.store.sqlite import Store
from svc.sandbox.store.transaction import Transaction

TARGET = 2000
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
_TYPE = "order.cancelled"


class Receiver(asyncio.Protocol):
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
        server = await loop.create_server(Receiver, "127.0.0.1", 0)
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


async def deliver(folder: Path, port: int, events: int, endpoints: int) -> tuple[float, float]:
    """Queues all events, lets them go, and returns real and processor seconds of the delivery."""
    engine = Engine(Store.open(str(folder / "sandbox.db")))

    def fill(tx: Transaction) -> None:
        tx.update_settings({"webhook_delivery": "manual"})
        url = f"http://127.0.0.1:{port}/hook"
        for _ in range(endpoints):
            webhook_endpoints.new_endpoint(tx, url=url, events=[_TYPE], description=None)
        for number in range(events // endpoints):
            tx.emit(_TYPE, {"id": f"ord_{number}", "object": "order", "text": "x" * 1000})

    def left(tx: Transaction) -> int:
        return int(tx.store.all("SELECT COUNT(*) FROM jobs")[0][0])

    await engine.start()
    await engine.run("test", fill)
    begun, used = time.perf_counter(), time.process_time()
    await engine.run("test", lambda tx: tx.update_settings({"webhook_delivery": "auto"}))
    engine.runner.wake()
    while engine.peek("test", left):  # noqa: ASYNC110  the engine has no event for it
        await asyncio.sleep(0.02)
    seconds = time.perf_counter() - begun, time.process_time() - used
    await engine.stop()
    return seconds


def main() -> None:
    """Prints one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=4000)
    parser.add_argument("--endpoints", type=int, default=4, help="each takes 8 at a time")
    asked = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    receiver = context.Process(target=receive, args=(theirs,), daemon=True)
    receiver.start()
    try:
        with tempfile.TemporaryDirectory() as name:
            port = ours.recv()
            real, used = asyncio.run(deliver(Path(name), port, asked.events, asked.endpoints))
    finally:
        receiver.kill()
    rate, alone = asked.events / real, asked.events / used
    verdict = "meets" if alone >= TARGET else "MISSES"
    print(
        f"{rate:,.0f} webhooks a second; {1000 * used / asked.events:.2f} ms of a processor each, "
    )
    print(
        f"{alone:,.0f} a second with a core to itself: {verdict} the target of {TARGET:,} ", end=""
    )
    print(f"(load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)")


if __name__ == "__main__":
    main()
