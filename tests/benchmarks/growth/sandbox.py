"""A sandbox with so many orders: what a call, a start, a day's jobs, export and import take."""

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.bench_listen import cpu, resident
from benchmarks.growth.measuring import SVC, Spent, State, Work, run_command
from support.launching import launch_options
from svc.clock import SystemClock
from svc.sandbox.process import launch
from svc.sandbox.process.records import RunRecord
from svc.sandbox.store.documents import DocumentRows
from svc.sandbox.store.sqlite import Store

CALLS = 300  # of one kind, which the processor's time is the mean of
JOBS = 10_000
HEADERS = {"Authorization": "Bearer sk_test_sandbox", "Content-Type": "application/json"}
HEADERS["Svc-Sandbox"] = "1"
ORDER = {
    "currency": "EUR",
    "amount": 12900,
    "shipping": {"country": "DE", "postal_code": "10115"},
    "items": [{"name": "Jacket", "hs_code": "6203.39", "quantity": 1, "unit_amount": 12900}],
}


class GrownSandbox:
    """A sandbox in a process of its own, with a file of so many orders."""

    def __init__(self, folder: Path, size: int) -> None:
        self.folder, self.size = folder, size
        self.file = folder / "sandbox.db"
        self._options = launch_options(folder / "state", db=str(self.file))
        self._clock, self._port = SystemClock(), 0
        self.run = self._start()
        model = self.ask("POST", "/v1/orders", ORDER)
        self.stop()
        self._multiply(model["id"])
        self.run = self._start()

    def _start(self) -> RunRecord:
        started = launch.start(self._options, os.environ, self._clock)
        self._line = HTTPConnection("127.0.0.1", started.port, timeout=3600)
        return started

    def stop(self) -> None:
        """Ends the process."""
        self._line.close()
        launch.stop(self._options.folder, self.run, self._clock)

    def _multiply(self, model: str) -> None:
        """Adds orders like one that the sandbox has made, by the store's own code."""
        store = Store.open(str(self.file))
        rows = DocumentRows(store, "test", {})
        order = rows.get("order", model)
        assert order is not None
        for first in range(0, self.size, 10_000):
            store.begin()
            for number in range(first, min(first + 10_000, self.size)):
                identity = f"ord_{os.urandom(12).hex()}"
                rows.add(
                    {**order, "id": identity, "status": "paid" if number % 100 else "cancelled"}
                )
            store.commit()
        store.begin()
        state = {**json.loads(store.meta("state") or "{}"), "sequence": store.sequence}
        store.set_meta("state", json.dumps(state))
        store.commit()
        middle = store.one("SELECT id FROM docs WHERE seq = ?", self.size // 2)
        assert middle is not None
        self.middle = middle[0]
        store.close()

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Makes one call."""
        sent = None if body is None else json.dumps(body)
        self._line.request(method, path, sent, HEADERS)
        answer = self._line.getresponse()
        data = answer.read()
        assert answer.status == 200, data[:500]
        return json.loads(data)

    def calls(self, method: str, path: str, body: object = None) -> Spent:
        """What one of many equal calls takes of the sandbox's processor."""
        before = cpu(self.run.pid)
        for _ in range(CALLS):
            self.ask(method, path, body)
        return Spent((cpu(self.run.pid) - before) / CALLS, resident(self.run.pid))

    def start_again(self) -> Spent:
        """The processor's time of a start until it answers."""
        self.stop()
        self.run = self._start()
        self.ask("GET", "/v1/orders?limit=1")
        return Spent(cpu(self.run.pid), resident(self.run.pid))

    def advance(self) -> Spent:
        """The wall's time of a day with so many jobs, each at a moment of its own."""
        self.ask("POST", "/_sandbox/clock", {"mode": "frozen"})
        self.stop()
        store = Store.open(str(self.file))
        store.begin()
        shown = store.meta("state")
        assert shown is not None
        now = json.loads(shown)["clock"]["now"] // 10**6 * 10**6
        for number in range(JOBS):
            due = now + (number + 1) * 8 * 10**6
            sql = "INSERT INTO jobs(due, mode, name, subject, args, lane) VALUES(?,?,?,?,?,?)"
            store.write(sql, due, "test", "payment.settle", f"pay_{number}", "{}", "")
        store.commit()
        store.close()
        self.run = self._start()
        begun = time.perf_counter()
        self.ask("POST", "/_sandbox/clock/advance", {"seconds": 86400})
        return Spent(time.perf_counter() - begun, resident(self.run.pid))

    def command(self, *words: str) -> Spent:
        """One command of the client: its time on the wall, the larger memory of both."""
        address = f"http://127.0.0.1:{self.run.port}"
        env = {**os.environ, "SVC_BASE_URL": address, "SVC_API_KEY": "sk_test_sandbox"}
        env |= {f"SVC_{name}_DIR": str(self.folder / name) for name in ("STATE", "CONFIG")}
        words = (*words, "--max-time", "3600")
        spent = run_command([SVC, "sandbox", *words], env, is_wall=True)
        return Spent(spent.seconds, max(spent.megabytes, resident(self.run.pid)))


@contextmanager
def sandbox(folder: Path, size: int) -> Iterator[Sequence[Work]]:
    """What P16 asks for."""
    with ExitStack() as stack:
        begun = time.perf_counter()
        grown = GrownSandbox(folder, size)
        stack.callback(grown.stop)
        megabytes = grown.file.stat().st_size >> 20
        print(f"  {size:,} orders made in {time.perf_counter() - begun:.0f} s: {megabytes} MB")
        after = f"starting_after={grown.middle}"
        path, exports = str(folder / "state.json"), count()

        def call(method: str, path: str, body: object = None) -> Callable[[], Spent]:
            return partial(grown.calls, method, path, body)

        yield [
            Work("create", "1.1 x", call("POST", "/v1/orders", ORDER), 3),
            Work("first page", "1.2 x", call("GET", "/v1/orders?limit=25"), 3),
            Work("page in the middle", "1.2 x", call("GET", f"/v1/orders?limit=25&{after}"), 3),
            Work("a filter", "1.5 x", call("GET", "/v1/orders?limit=10&status=cancelled"), 3),
            Work("start", "2 s", grown.start_again, 3),
            Work(f"a day with {JOBS:,} jobs", "30 s", grown.advance, 1),
            Work(
                "export",
                "linear, flat",
                lambda: grown.command("export", f"{path}{next(exports)}"),
                1,
            ),
            Work("import", "linear, flat", lambda: grown.command("import", f"{path}0"), 1),
        ]


STATES: dict[str, State] = {"sandbox": sandbox}
