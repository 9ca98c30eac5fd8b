"""How fast webhooks are received, verified, kept, printed and forwarded (performance P7, P8).

Run it by hand: `python tests/benchmarks/bench_listen.py [--events N] [--runs N] [--folder DIR]`.
It runs the real `svc events listen -o ndjson`, a sender and a target, each a process of its own.
The floor is a relay of the same shape in the same run that neither verifies, keeps nor prints.
Only ratios carry over to other machines. `stripe listen` and `smee` need a push service of their
own and are not driven here.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from svc.signature import header_value

SECRET = "whsec_benchmark"
SENDERS = 16
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


def main() -> None:
    """Measures floor and listener in turns and prints one line a measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=20_000, help="events of a burst")
    parser.add_argument("--paced", action="store_true", help="P8 only")
    parser.add_argument("--runs", type=int, default=3, help="measurements of each kind")
    parser.add_argument("--folder", help="where the state lies; default: a temporary folder")
    parser.add_argument("--role", help=argparse.SUPPRESS)
    parser.add_argument("--args", nargs="*", default=(), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.role:
        asyncio.run(ROLES[asked.role](*asked.args))
        return
    if not asked.paced:
        bursts(asked)
    for name, opened in (("floor", floor), ("svc", one_listener)):
        with opened() as (url, count):
            times = one_at_a_time(url, count)
        p50, p99 = statistics.median(times), sorted(times)[int(len(times) * 0.99)]
        print(f"P8  {name:6} one at a time: p50 {p50 * 1e6:6.0f} us, p99 {p99 * 1e6:6.0f} us")


def bursts(asked: argparse.Namespace) -> None:
    """Prints the medians of P7."""
    floors, rates, sizes = [], [], []
    for _ in range(asked.runs):
        with floor() as (url, count):
            floors.append(burst(url, count, asked.events))
        with (
            tempfile.TemporaryDirectory(dir=asked.folder) as folder,
            listener(folder) as (url, count, pid),
        ):
            rates.append(burst(url, count, asked.events))
            sizes.append(resident(pid))
    print(f"P7  burst of {asked.events} x 2 KB, {SENDERS} senders")
    print(f"    floor    {statistics.median(floors):8.0f} events/s")
    rate = statistics.median(rates)
    print(f"    svc      {rate:8.0f} events/s  {rate / statistics.median(floors):.2f} of the floor")
    print(f"    memory   {max(sizes):8.0f} MB")


@contextmanager
def role(name: str, *args: str) -> Iterator["subprocess.Popen[str]"]:
    """This script in another process and another part."""
    process = subprocess.Popen(
        [sys.executable, __file__, "--role", name, "--args", *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


class Count:
    """How many events the target has, asked over its standard input."""

    def __init__(self, target: "subprocess.Popen[str]") -> None:
        self._target = target

    def __call__(self) -> int:
        assert self._target.stdin is not None
        assert self._target.stdout is not None
        self._target.stdin.write("\n")
        self._target.stdin.flush()
        return int(self._target.stdout.readline())


@contextmanager
def floor() -> Iterator[tuple[str, Count]]:
    """A relay that only passes bytes on."""
    with role("target") as target, ExitStack() as stack:
        relay = stack.enter_context(role("floor", line(target)))
        yield f"http://127.0.0.1:{line(relay)}/hook", Count(target)


@contextmanager
def one_listener() -> Iterator[tuple[str, Count]]:
    with tempfile.TemporaryDirectory() as folder, listener(folder) as (url, count, _):
        yield url, count


@contextmanager
def listener(folder: str) -> Iterator[tuple[str, Count, int]]:
    """The real program."""
    ready = Path(folder, "ready.json")
    env = {**os.environ, "SVC_WEBHOOK_SECRET": SECRET, "SVC_BASE_URL": "http://127.0.0.1:9"}
    env |= {f"SVC_{name}_DIR": f"{folder}/{name}" for name in ("CONFIG", "STATE", "CACHE")}
    with role("target") as target:
        argv = ["events", "listen", "-o", "ndjson", "--forward-to", line(target)]
        with Path(folder, "out.ndjson").open("w") as out:
            process = subprocess.Popen(
                [sys.executable, "-m", "svc", *argv, "--ready-file", str(ready)],
                env=env,
                stdout=out,
            )
        try:
            while not ready.exists():
                assert process.poll() is None
                time.sleep(0.01)
            yield json.loads(ready.read_text())["url"], Count(target), process.pid
        finally:
            process.terminate()
            process.wait()


def line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def burst(url: str, count: Count, events: int) -> float:
    """Events a second, from the first to the last that arrives at the target."""
    with role("sender", url, str(events), str(SENDERS)) as sender:
        assert line(sender) == "ready"
        started = time.perf_counter()
        assert sender.stdin is not None
        sender.stdin.write("\n")
        sender.stdin.flush()
        while (arrived := count()) < events:
            assert time.perf_counter() - started < 120, arrived
            time.sleep(0.01)
        return events / (time.perf_counter() - started)


def one_at_a_time(url: str, count: Count) -> list[float]:
    """Seconds from sending an event to its arrival at the target, 200 a second."""
    with role("sender", url, "1000", "paced") as sender:
        assert line(sender) == "ready"
        assert sender.stdin is not None
        sender.stdin.write("\n")
        sender.stdin.flush()
        sent = [float(word) for word in line(sender).split()]
    time.sleep(0.5)
    assert count() == len(sent)
    target = count._target
    assert target.stdin is not None
    target.stdin.write("times\n")
    target.stdin.flush()
    arrived = [float(word) for word in line(target).split()]
    return [there - here for here, there in zip(sent, arrived, strict=True)][100:]


def resident(pid: int) -> float:
    """The most memory that a process has had, in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def requests(url: str, events: int) -> Iterator[bytes]:
    """Signed deliveries of about 2 KB."""
    host, _, path = url.removeprefix("http://").partition("/")
    for number in range(events):
        changed = {"id": f"ord_{number:020}", "object": "order", "amount": 12900, "currency": "EUR"}
        event = {
            "id": f"evt_{os.urandom(12).hex()}",
            "object": "event",
            "type": "order.paid",
            "created": "2026-10-01T09:00:00Z",
            "livemode": False,
            "data": {"object": {**changed, "note": "x" * 1780}},
        }
        body = json.dumps(event, separators=(",", ":")).encode()
        head = [
            f"POST /{path} HTTP/1.1",
            f"Host: {host}",
            "Content-Type: application/json; charset=utf-8",
            "User-Agent: Svc-Webhooks/1.0",
            f"Svc-Signature: {header_value(body, [SECRET], int(time.time()))}",
            f"Svc-Event-Id: {event['id']}",
            "Svc-Delivery-Attempt: 1",
            f"Content-Length: {len(body)}",
        ]
        yield "\r\n".join([*head, "", ""]).encode() + body


class Sender(asyncio.Protocol):
    """Sends one request after the other over one connection."""

    def __init__(self, waiting: Iterator[bytes], done: "asyncio.Future[None]") -> None:
        self._waiting = waiting
        self._done = done

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        assert data.startswith(b"HTTP/1.1 200"), data[:80]
        self.go()

    def go(self) -> None:
        request = next(self._waiting, None)
        if request is not None:
            self._transport.write(request)
        elif not self._done.done():
            self._done.set_result(None)


async def sender(url: str, events: str, senders: str) -> None:
    """Prepares everything, says ready, and begins when it is told to."""
    loop = asyncio.get_running_loop()
    port = int(url.split(":")[2].partition("/")[0])
    waiting = list(requests(url, int(events)))
    print("ready", flush=True)
    await loop.run_in_executor(None, sys.stdin.readline)
    if senders == "paced":
        await paced(port, waiting)
        return
    done: asyncio.Future[None] = loop.create_future()
    source = iter(waiting)
    for _ in range(int(senders)):
        _, protocol = await loop.create_connection(lambda: Sender(source, done), "127.0.0.1", port)
        protocol.go()
    await done
    await asyncio.sleep(1)


async def paced(port: int, waiting: list[bytes]) -> None:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    _, protocol = await loop.create_connection(lambda: Sender(iter(()), done), "127.0.0.1", port)
    sent = []
    for request in waiting:
        sent.append(time.perf_counter())
        protocol._transport.write(request)
        await asyncio.sleep(0.005)
    print(*sent, flush=True)
    await asyncio.sleep(1)


class Answering(asyncio.Protocol):
    """Reads requests with a Content-Length and answers or passes each on."""

    arrived: list[float] = []  # noqa: RUF012  one target a process

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._data = b""

    def data_received(self, data: bytes) -> None:
        data = self._data + data if self._data else data
        while (end := data.find(b"\r\n\r\n")) >= 0:
            at = data.index(b"Content-Length: ") + 16
            whole = end + 4 + int(data[at : data.index(b"\r", at)])
            if len(data) < whole:
                break
            self.took(data[:whole])
            data = data[whole:]
        self._data = data

    def took(self, request: bytes) -> None:
        self.arrived.append(time.perf_counter())
        self.transport.write(OK)


async def target() -> None:
    """A server that counts; a line on standard input asks for the count or for all times."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Answering, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)

    def tell() -> None:
        asked = sys.stdin.readline()
        print(*(Answering.arrived if asked == "times\n" else [len(Answering.arrived)]), flush=True)

    loop.add_reader(sys.stdin, tell)
    await asyncio.Event().wait()


async def floor_relay(port: str) -> None:
    """Passes each request on over eight kept connections."""
    loop = asyncio.get_running_loop()
    idle: list[asyncio.Transport] = []
    waiting: deque[bytes] = deque()

    class Out(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            assert isinstance(transport, asyncio.Transport)
            self._transport = transport
            idle.append(transport)

        def data_received(self, data: bytes) -> None:
            if waiting:
                self._transport.write(waiting.popleft())
            else:
                idle.append(self._transport)

    class In(Answering):
        def took(self, request: bytes) -> None:
            self.transport.write(OK)
            if idle:
                idle.pop().write(request)
            else:
                waiting.append(request)

    for _ in range(8):
        await loop.create_connection(Out, "127.0.0.1", int(port))
    server = await loop.create_server(In, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()


ROLES: dict[str, Callable[..., Coroutine[Any, Any, None]]] = {
    "sender": sender,
    "target": target,
    "floor": floor_relay,
}

if __name__ == "__main__":
    main()
