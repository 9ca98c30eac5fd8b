"""How fast webhooks are received, verified, kept, printed and forwarded.

    python tests/benchmarks/bench_listen.py [--events N] [--runs N] [--senders 2,4,16,64]
        [--ack forwarded] [--ordered] [--folder DIR] [--paced] [--tenfold]

It runs the real `svc events listen -o ndjson`, a sender and a target, each a process of its own.
The floor is a relay of the same shape in the same run that neither verifies, keeps nor prints; the
synced floor appends each group of bodies to a file and syncs it before it answers and forwards, so
it is what this disk leaves of the first. Each sender waits for its answer before it sends again,
while the peers' one connection sends as fast as it is read: two senders wait for the disk above all.
Peers are taken from the environment, STRIPE=/path/to/stripe, SMEE="node .../smee.js", or from a
node_modules here or above; each gets its events in the same run from a local stand-in for its
service. The order is reversed each round, and a ratio is one of the same round. What is missing is
said. Nothing is installed. Only ratios carry over to other machines.
"""

import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks import listen_peers
from benchmarks.command import parser
from svc.signature import header_value

SECRET = "whsec_benchmark"
PACED = 1000
SETTLING = 100
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
LENGTH = re.compile(rb"(?i)\r\ncontent-length: *([0-9]+)")


@dataclass
class Subject:
    """Something that forwards: who feeds it, the target that counts, and its process."""

    feeder: "subprocess.Popen[str]"
    target: "subprocess.Popen[str]"
    pid: int

    def count(self) -> int:
        """How many events the target has."""
        return int(ask(self.target, ""))

    def start(self) -> None:
        """Lets the feeder begin."""
        assert self.feeder.stdin is not None
        self.feeder.stdin.write("\n")
        self.feeder.stdin.flush()


Contender = Callable[[int, str, int], AbstractContextManager[Subject]]


def asked_for() -> argparse.Namespace:
    """What was asked for on the command line."""
    command = parser(__doc__)
    command.add_argument("--events", type=int, default=20_000, help="events of a burst")
    command.add_argument("--senders", default="16", help="connections of a burst: 2,4,16,64")
    command.add_argument("--ack", default="received", help="svc's --ack")
    command.add_argument("--ordered", action="store_true", help="svc's --ordered")
    command.add_argument("--paced", action="store_true", help="one at a time only")
    command.add_argument("--tenfold", action="store_true", help="svc alone, and ten times as many")
    command.add_argument("--runs", type=int, default=3, help="measurements of each kind")
    command.add_argument("--folder", help="where the state lies; default: a temporary folder")
    command.add_argument("--role", help=argparse.SUPPRESS)
    command.add_argument("--args", nargs="*", default=(), help=argparse.SUPPRESS)
    return command.parse_args()


def main() -> None:
    """Measures everything in turns and prints one line a measurement."""
    asked = asked_for()
    if asked.role:
        asyncio.run(ROLES[asked.role](*asked.args))
        return
    told = ["--ack", asked.ack, *(["--ordered"] if asked.ordered else [])]
    contenders: dict[str, Contender] = {
        "floor": floor,
        "synced": partial(synced_floor, asked.folder),
        "svc": partial(listener, asked.folder, told),
    }
    for name in listen_peers.PEERS:
        if command := listen_peers.found().get(name):
            contenders[name] = partial(peer, name, command)
        else:
            print(f"{name} is not measured: set {name.upper()}")
    if asked.tenfold:
        tenfold(contenders["svc"], asked.events)
        return
    if not asked.paced:
        bursts(contenders, asked)
    latencies(contenders, asked.runs)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def bursts(contenders: dict[str, Contender], asked: argparse.Namespace) -> None:
    """Prints the medians of a burst for each number of senders."""
    for senders in map(int, asked.senders.split(",")):
        print(f"burst of {asked.events} x 2 KB, {senders} senders; peers: one push connection")
        found = rounds(contenders, asked.runs, partial(burst, asked.events, senders))
        for name, figures in found.items():
            rate, work, size = (statistics.median(column) for column in zip(*figures, strict=True))
            print(
                f"    {name:7}{rate:8.0f} events/s  {work * 1e6:5.0f} us of CPU an event"
                f"  {size:4.0f} MB{compared(found, name)}"
            )


def rounds(
    contenders: dict[str, Contender], runs: int, measure: Callable[[Contender], tuple[float, ...]]
) -> dict[str, list[tuple[float, ...]]]:
    """Measures everybody in turns, in the other order each time."""
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in contenders}
    for number in range(runs):
        for name in list(contenders)[:: -1 if number % 2 else 1]:
            found[name].append(measure(contenders[name]))
    return found


def compared(found: dict[str, list[tuple[float, ...]]], name: str) -> str:
    """How svc did against another one in each round: the median and what was between."""
    if name == "svc":
        return ""
    pairs = sorted(
        ours / its for (ours, *_), (its, *_) in zip(found["svc"], found[name], strict=True)
    )
    return f"  svc {statistics.median(pairs):.2f} x ({pairs[0]:.2f} to {pairs[-1]:.2f})"


def latencies(contenders: dict[str, Contender], runs: int) -> None:
    """Prints deliveries one at a time: the median of the runs' p50 and p99."""
    found = rounds(contenders, runs, paces)
    for name, figures in found.items():
        p50, p99 = (statistics.median(column) * 1e6 for column in zip(*figures, strict=True))
        print(
            f"{name:7} one at a time, 200/s: p50 {p50:6.0f} us, p99 {p99:6.0f} us"
            f"{compared(found, name)}"
        )


def paces(opened: Contender) -> tuple[float, ...]:
    """The p50 and the p99 of one run, in seconds."""
    times = sorted(one_at_a_time(opened))
    return statistics.median(times), times[int(len(times) * 0.99)]


def tenfold(svc: Contender, events: int) -> None:
    """Prints how time and memory grow with ten times the events."""
    one, _, small = burst(events, 16, svc)
    ten, _, large = burst(10 * events, 16, svc)
    print(f"{events} events: {events / one:.1f} s, {small:.0f} MB")
    print(f"    {10 * events} events: {10 * events / ten:.1f} s, {large:.0f} MB")
    print(f"    {10 * one / ten:.1f} times the time for 10 times the events")


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


@contextmanager
def floor(events: int, pace: str, senders: int) -> Iterator[Subject]:
    """A relay that only passes bytes on."""
    with role("target") as target, ExitStack() as stack:
        relay = stack.enter_context(role("floor", line(target)))
        url = f"http://127.0.0.1:{line(relay)}/hook"
        feeder = stack.enter_context(role("sender", url, str(events), pace, str(senders)))
        yield Subject(feeder, target, relay.pid)


@contextmanager
def synced_floor(place: str | None, events: int, pace: str, senders: int) -> Iterator[Subject]:
    """The same, on the disk before it is answered or passed on."""
    with (
        tempfile.TemporaryDirectory(dir=place) as folder,
        role("target") as target,
        role("floor", line(target), f"{folder}/bodies") as relay,
        role(
            "sender", f"http://127.0.0.1:{line(relay)}/hook", str(events), pace, str(senders)
        ) as feeder,
    ):
        yield Subject(feeder, target, relay.pid)


@contextmanager
def listener(
    place: str | None, told: list[str], events: int, pace: str, senders: int
) -> Iterator[Subject]:
    """The real program."""
    with (
        tempfile.TemporaryDirectory(dir=place) as folder,
        role("target") as target,
        program(folder, line(target), told) as (url, pid),
        role("sender", url, str(events), pace, str(senders)) as feeder,
    ):
        yield Subject(feeder, target, pid)


@contextmanager
def program(folder: str, port: str, told: list[str]) -> Iterator[tuple[str, int]]:
    """`svc events listen` in a folder of its own, forwarding to a port."""
    ready = Path(folder, "ready.json")
    env = {**os.environ, "SVC_WEBHOOK_SECRET": SECRET, "SVC_BASE_URL": "http://127.0.0.1:9"}
    env |= {f"SVC_{name}_DIR": f"{folder}/{name}" for name in ("CONFIG", "STATE", "CACHE")}
    argv = ["events", "listen", "-o", "ndjson", "--forward-to", port, "--ready-file", str(ready)]
    argv += told
    with Path(folder, "out.ndjson").open("w") as out:
        process = subprocess.Popen([sys.executable, "-m", "svc", *argv], env=env, stdout=out)
    try:
        while not ready.exists():
            assert process.poll() is None
            time.sleep(0.01)
        yield json.loads(ready.read_text())["url"], process.pid
    finally:
        process.terminate()
        process.wait()


@contextmanager
def peer(name: str, command: list[str], events: int, pace: str, senders: int) -> Iterator[Subject]:
    """A peer and the stand-in that pushes to it, always over one connection."""
    del senders
    with (
        tempfile.TemporaryDirectory() as folder,
        role("target") as target,
        role("push", name, pace, str(events)) as feeder,
        listen_peers.running(name, command, line(feeder), line(target), folder) as pid,
    ):
        yield Subject(feeder, target, pid)


def line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def ask(process: "subprocess.Popen[str]", question: str) -> str:
    assert process.stdin is not None
    process.stdin.write(f"{question}\n")
    process.stdin.flush()
    return line(process)


def burst(events: int, senders: int, opened: Contender) -> tuple[float, float, float]:
    """Events a second until the last has arrived, CPU seconds an event, megabytes."""
    with opened(events, "burst", senders) as subject:
        assert line(subject.feeder) == "ready"
        worked, started = cpu(subject.pid), time.perf_counter()
        subject.start()
        while (arrived := subject.count()) < events:
            assert time.perf_counter() - started < 600, arrived
            time.sleep(0.01)
        rate = events / (time.perf_counter() - started)
        return rate, (cpu(subject.pid) - worked) / events, resident(subject.pid)


def one_at_a_time(opened: Contender) -> list[float]:
    """Seconds from sending an event to its arrival at the target, 200 a second."""
    with opened(PACED, "paced", 1) as subject:
        assert line(subject.feeder) == "ready"
        subject.start()
        sent = [float(word) for word in line(subject.feeder).split()]
        until = time.perf_counter() + 10  # on a busy machine the last ones are late as well
        while subject.count() < len(sent) and time.perf_counter() < until:
            time.sleep(0.05)
        assert subject.count() == len(sent)
        arrived = [float(word) for word in ask(subject.target, "times").split()]
    return [there - here for here, there in zip(sent, arrived, strict=True)][SETTLING:]


def cpu(pid: int) -> float:
    """The seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> float:
    """The most memory that a process has had, in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def deliveries(events: int) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    """Events of about 2 KB and the headers that go with them."""
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
        yield (
            event,
            {
                "Content-Type": "application/json; charset=utf-8",
                "User-Agent": "Svc-Webhooks/1.0",
                "Svc-Signature": header_value(body, [SECRET], int(time.time())),
                "Svc-Event-Id": str(event["id"]),
                "Svc-Delivery-Attempt": "1",
            },
        )


def requests(url: str, events: int) -> Iterator[bytes]:
    """Signed deliveries as requests."""
    host, _, path = url.removeprefix("http://").partition("/")
    for event, headers in deliveries(events):
        body = json.dumps(event, separators=(",", ":")).encode()
        head = [f"POST /{path} HTTP/1.1", f"Host: {host}"]
        head += [f"{name}: {value}" for name, value in headers.items()]
        yield "\r\n".join([*head, f"Content-Length: {len(body)}", "", ""]).encode() + body


class SenderProtocol(asyncio.Protocol):
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


async def sender(url: str, events: str, pace: str, senders: str) -> None:
    """Prepares everything, says ready, and begins when it is told to."""
    loop = asyncio.get_running_loop()
    port = int(url.split(":")[2].partition("/")[0])
    waiting = list(requests(url, int(events)))
    print("ready", flush=True)
    await loop.run_in_executor(None, sys.stdin.readline)
    if pace == "paced":
        await paced(port, waiting)
        return
    done: asyncio.Future[None] = loop.create_future()
    source = iter(waiting)
    for _ in range(int(senders)):
        _, protocol = await loop.create_connection(
            lambda: SenderProtocol(source, done), "127.0.0.1", port
        )
        protocol.go()
    await done
    await asyncio.sleep(1)


async def paced(port: int, waiting: list[bytes]) -> None:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    _, protocol = await loop.create_connection(
        lambda: SenderProtocol(iter(()), done), "127.0.0.1", port
    )
    sent = []
    for request in waiting:
        sent.append(time.perf_counter())
        protocol._transport.write(request)
        await asyncio.sleep(listen_peers.PACE_SECONDS)
    print(*sent, flush=True)
    await asyncio.sleep(1)


class TargetProtocol(asyncio.Protocol):
    """Reads requests with a Content-Length and answers or passes each on."""

    arrived: list[float] = []  # noqa: RUF012  one target a process

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._data = b""

    def data_received(self, data: bytes) -> None:
        data = self._data + data if self._data else data
        while (end := data.find(b"\r\n\r\n")) >= 0:
            length = LENGTH.search(data, 0, end + 2)
            assert length is not None, data[:end]
            whole = end + 4 + int(length[1])
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
    server = await loop.create_server(TargetProtocol, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)

    def tell() -> None:
        asked = sys.stdin.readline()
        print(
            *(TargetProtocol.arrived if asked == "times\n" else [len(TargetProtocol.arrived)]),
            flush=True,
        )

    loop.add_reader(sys.stdin, tell)
    await asyncio.Event().wait()


class SyncedFile:
    """Appends what has come in one pass of the loop to a file; tells those who wait once it is synced."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._bodies: list[bytes] = []
        self._told: list[Callable[[], None]] = []

    def store(self, body: bytes, told: Callable[[], None]) -> None:
        self._bodies.append(body)
        self._told.append(told)
        if len(self._told) == 1:
            asyncio.get_running_loop().call_soon(self._sync)

    def _sync(self) -> None:
        bodies, self._bodies = self._bodies, []
        told, self._told = self._told, []
        os.write(self._file, b"".join(bodies))
        os.fdatasync(self._file)
        for tell in told:
            tell()


def at_once(_: bytes, told: Callable[[], None]) -> None:
    """Keeps nothing."""
    told()


async def floor_relay(port: str, path: str = "") -> None:
    """Passes each request on over eight kept connections, once it is in a file if one is named."""
    loop = asyncio.get_running_loop()
    idle: list[asyncio.Transport] = []
    waiting: deque[bytes] = deque()
    keep = SyncedFile(path).store if path else at_once

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

    class In(TargetProtocol):
        def took(self, request: bytes) -> None:
            keep(request, partial(self.passes_on, request))

        def passes_on(self, request: bytes) -> None:
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


async def push(name: str, pace: str, events: str) -> None:
    await listen_peers.push(name, pace, deliveries(int(events)))


ROLES: dict[str, Callable[..., Coroutine[Any, Any, None]]] = {
    "sender": sender,
    "target": target,
    "floor": floor_relay,
    "push": push,
}

if __name__ == "__main__":
    main()
