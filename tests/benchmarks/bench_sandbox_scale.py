"""Whether the sandbox stays as fast with 100,000 orders as with 100.

Run it by hand: `python tests/benchmarks/bench_sandbox_scale.py [--orders N] [--folder DIR]`.
It starts a real sandbox process with a database file and fills it with 16 clients. At 100, 1,000,
10,000, … orders it measures the sandbox's own processor time and the wall time of one more create,
of list pages at both ends and in the middle, of a filtered page and of a retrieve, and the memory
of the process. Only ratios carry over to other machines.
"""

import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.command import parser
from support.launching import launch_options
from svc.clock import SystemClock
from svc.sandbox.process import launch
from svc.sandbox.process.records import RunRecord

CLIENTS = 16
SAMPLES = 200
MEASURABLE = 1000  # orders; fewer take less time than the system's clock can tell
STEP = 10  # from one size to the next
RATIO_MAX = 11  # ten times the work in at most eleven times the time
BODY = json.dumps(
    {
        "currency": "EUR",
        "amount": 12900,
        "shipping": {"country": "DE", "postal_code": "10115"},
        "items": [{"name": "Jacket", "hs_code": "6203.39", "quantity": 1, "unit_amount": 12900}],
    }
)
HEADERS = {"Authorization": "Bearer sk_test_sandbox", "Content-Type": "application/json"}


@dataclass(frozen=True)
class Cost:
    """What a call costs: the sandbox's processor time and the median wall time, milliseconds."""

    processor: float
    wall: float


class MeasuredConnection:
    """One kept-alive connection."""

    def __init__(self, port: int) -> None:
        self.connection = HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(self, method: str, path: str) -> Any:
        self.connection.request(method, path, BODY if method == "POST" else None, HEADERS)
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise SystemExit(f"The sandbox refused {method} {path}: {body!r}")
        return json.loads(body)


def main() -> None:
    """Fills the sandbox step by step and prints one block for each size."""
    command = parser(__doc__)
    command.add_argument("--orders", type=int, default=100_000, help="how many in the end")
    command.add_argument("--folder", help="where the database lies; default: a temporary folder")
    asked = command.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        folder = Path(name)
        options = launch_options(folder / "state", db=str(folder / "sandbox.db"))
        sandbox = launch.start(options, os.environ, SystemClock())
        try:
            Scale(sandbox).run(asked.orders)
        finally:
            launch.stop(options.folder, sandbox, SystemClock())


class Scale:
    """One sandbox that grows, and what its calls cost at each size."""

    def __init__(self, sandbox: RunRecord) -> None:
        self.sandbox = sandbox
        self.made = 0
        self.base: dict[str, Cost] = {}
        self.created, self.seconds = 0, 0.0  # orders, and processor time that they took
        self.each: dict[int, float] = {}  # processor time an order, until this many

    def run(self, orders: int) -> None:
        size = 100
        while size <= orders:
            self.fill(size)
            self.measure()
            size *= STEP
        for size, seconds in self.each.items():
            if size >= MEASURABLE and size * STEP in self.each:
                ratio = STEP * self.each[size * STEP] / seconds
                verdict = "meets" if ratio <= RATIO_MAX else "MISSES"
                print(
                    f"{size:,} to {size * STEP:,} orders: {ratio:.1f} x the processor time; "
                    f"{verdict} the target of {RATIO_MAX}"
                )

    def fill(self, size: int) -> None:
        """Creates orders with all clients until there are `size`."""
        before, begun = processor(self.sandbox.pid), time.perf_counter()
        wanted = size - self.made
        shares = [wanted // CLIENTS + (n < wanted % CLIENTS) for n in range(CLIENTS)]
        threads = [threading.Thread(target=self._create, args=(share,)) for share in shares]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.made = size
        self.created += wanted
        self.seconds += processor(self.sandbox.pid) - before
        self.each[size] = self.seconds / self.created
        rate = wanted / (time.perf_counter() - begun)
        print(f"\n{size:,} orders (the last {wanted:,} at {rate:,.0f} a second)")

    def measure(self) -> None:
        """Prints what each kind of call costs now, and how that compares with the first size."""
        self.line = MeasuredConnection(
            self.sandbox.port
        )  # the last one was idle for as long as filling took
        ids = self._ids_at_both_ends()
        calls: dict[str, Callable[[], Any]] = {
            "create": lambda: self._ask("POST", "/v1/orders"),
            "retrieve": lambda: self._ask("GET", f"/v1/orders/{ids['old']}"),
            "newest page": lambda: self._ask("GET", "/v1/orders?limit=25"),
            "middle page": lambda: self._ask("GET", f"/v1/orders?starting_after={ids['middle']}"),
            "oldest page": lambda: self._ask("GET", f"/v1/orders?starting_after={ids['old']}"),
            "filtered page": lambda: self._ask("GET", "/v1/orders?status=requires_payment"),
            "empty filter": lambda: self._ask("GET", "/v1/orders?status=paid"),
        }
        for name, call in calls.items():
            cost = self._cost(call)
            first = self.base.setdefault(name, cost)
            print(
                f"  {name:14} {cost.processor:6.2f} ms of processor "
                f"({cost.processor / first.processor:4.2f} x), "
                f"{cost.wall:6.2f} ms to the answer ({cost.wall / first.wall:4.2f} x)"
            )
        self.line.connection.close()
        print(f"  memory {resident(self.sandbox.pid) / 1024:.1f} MB")

    def _create(self, count: int) -> None:
        line = MeasuredConnection(self.sandbox.port)
        for _ in range(count):
            line.ask("POST", "/v1/orders")
        line.connection.close()

    def _ask(self, method: str, path: str) -> None:
        if method == "POST":
            self.made += 1
        self.line.ask(method, path)

    def _cost(self, call: Callable[[], Any]) -> Cost:
        for _ in range(10):
            call()
        before, walls = processor(self.sandbox.pid), []
        for _ in range(SAMPLES):
            begun = time.perf_counter()
            call()
            walls.append(time.perf_counter() - begun)
        spent = processor(self.sandbox.pid) - before
        return Cost(max(spent, 0.01) / SAMPLES * 1000, statistics.median(walls) * 1000)

    def _ids_at_both_ends(self) -> dict[str, str]:
        """An id 30 orders from the oldest end, and one in the middle, found by paging."""
        found: list[str] = []
        if not hasattr(self, "_old"):
            page = self.line.ask("GET", "/v1/orders?limit=100")
            self._old = page["data"][-30]["id"]
        after, seen = "", 0
        limit = min(100, self.made // 2)
        while seen < self.made // 2:
            page = self.line.ask("GET", f"/v1/orders?limit={limit}{after}")
            found = [doc["id"] for doc in page["data"]]
            seen += len(found)
            after = f"&starting_after={found[-1]}"
        return {"old": self._old, "middle": found[-1]}


def processor(pid: int) -> float:
    """The processor time that a process has used, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> int:
    """The resident memory of a process in KiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


if __name__ == "__main__":
    main()
