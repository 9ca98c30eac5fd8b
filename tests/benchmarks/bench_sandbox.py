"""How many orders a second the sandbox makes durable.

Run it by hand: `python tests/benchmarks/bench_sandbox.py [--orders N] [--runs N] [--folder DIR]`.
It starts a real sandbox process with a database file, sends `POST /v1/orders` over raw sockets
with 1 and with 16 kept-alive clients, and measures in the same run how often this disk can append
4 KiB and fsync. Only ratios carry over to other machines.
"""

import os
import selectors
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.bench_listen import cpu, resident
from benchmarks.command import parser
from support.launching import launch_options
from svc.clock import SystemClock
from svc.sandbox.process import launch
from svc.sandbox.process.records import RunRecord

TARGETS = {1: 1200, 16: 2200}
BODY = (
    b'{"currency":"EUR","amount":12900,"settlement_currency":"USD",'
    b'"shipping":{"country":"DE","postal_code":"10115"},'
    b'"items":[{"name":"Linen jacket","hs_code":"6203.39","quantity":1,"unit_amount":12900}]}'
)


def main() -> None:
    """Measures floor and sandbox in turns and prints one line a measurement."""
    command = parser(__doc__)
    command.add_argument("--orders", type=int, default=3000, help="orders a measurement")
    command.add_argument("--runs", type=int, default=3, help="measurements of each kind")
    command.add_argument("--folder", help="where the database lies; default: a temporary folder")
    asked = command.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        folder = Path(name)
        options = launch_options(folder / "state", db=str(folder / "sandbox.db"))
        sandbox = launch.start(options, os.environ, SystemClock())
        try:
            measure(sandbox, folder, asked.orders, asked.runs)
        finally:
            launch.stop(options.folder, sandbox, SystemClock())


def measure(sandbox: RunRecord, folder: Path, orders: int, runs: int) -> None:
    """Prints the medians and their ratio to the floor."""
    orders_per_second(sandbox.port, 4, 200)  # warms caches and the engine up
    rss = resident(sandbox.pid)
    floors, used = [], cpu(sandbox.pid)
    rates: dict[int, list[float]] = {clients: [] for clients in TARGETS}
    for _ in range(runs):
        floors.append(fsyncs_per_second(folder))
        for clients, found in rates.items():
            found.append(orders_per_second(sandbox.port, clients, orders))
    report(statistics.median(floors), rates)
    made = runs * orders * len(rates)
    each = (cpu(sandbox.pid) - used) / made
    load = os.getloadavg()[0]
    print(
        f"processor: {each * 1000:.2f} ms an order, {1 / each:,.0f} a second if it had a core ",
        end="",
    )
    print(f"to itself (load {load:.1f} on {os.cpu_count()} cores)")
    print(f"memory: {rss:.1f} MB after 200 orders, ", end="")
    print(f"{resident(sandbox.pid):.1f} MB after {200 + made}")


def report(floor: float, rates: Mapping[int, list[float]]) -> None:
    """Prints one line for each number of clients."""
    print(f"floor: {floor:,.0f} appends of 4 KiB with fsync a second")
    for clients, found in rates.items():
        rate = statistics.median(found)
        verdict = "meets" if rate >= TARGETS[clients] else "MISSES"
        print(
            f"{clients:2} clients: {rate:,.0f} orders a second, {rate / floor:.2f} of the floor; "
            f"{verdict} the target of {TARGETS[clients]:,} "
            f"(runs: {', '.join(f'{each:,.0f}' for each in found)})"
        )


def fsyncs_per_second(folder: Path, count: int = 500) -> float:
    """The disk's own limit for one commit after the other."""
    block = os.urandom(4096)
    path = folder / "floor"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    begun = time.perf_counter()
    for _ in range(count):
        os.write(handle, block)
        os.fsync(handle)
    seconds = time.perf_counter() - begun
    os.close(handle)
    path.unlink()
    return count / seconds


class OrderConnection:
    """One kept-alive connection with one request in flight."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = b""

    def send(self, number: int) -> None:
        head = (
            "POST /v1/orders HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            "Authorization: Bearer sk_test_sandbox\r\nContent-Type: application/json\r\n"
            f"Idempotency-Key: bench-{time.time_ns()}-{number}\r\n"
            f"Content-Length: {len(BODY)}\r\n\r\n"
        )
        self.socket.sendall(head.encode() + BODY)

    def finished(self) -> bool:
        """Reads what has come; true when the whole answer is there and it is a 200."""
        self.received += self.socket.recv(65536)
        head, found, body = self.received.partition(b"\r\n\r\n")
        if not found:
            return False
        length = next(
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length:")
        )
        if len(body) < length:
            return False
        if not head.startswith(b"HTTP/1.1 200 "):
            raise SystemExit(f"The sandbox refused an order: {self.received!r}")
        self.received = b""
        return True


def orders_per_second(port: int, clients: int, orders: int) -> float:
    """Sends orders over a number of connections, each waiting for its answer."""
    selector = selectors.DefaultSelector()
    begun = time.perf_counter()
    sent = done = 0
    everyone = [OrderConnection(port) for _ in range(clients)]
    for client in everyone:
        selector.register(client.socket, selectors.EVENT_READ, client)
        client.send(sent)
        sent += 1
    while done < sent:
        for key, _ in selector.select():
            if key.data.finished():
                done += 1
                if sent < orders:
                    key.data.send(sent)
                    sent += 1
    seconds = time.perf_counter() - begun
    for client in everyone:
        client.socket.close()
    selector.close()
    return done / seconds


if __name__ == "__main__":
    main()
