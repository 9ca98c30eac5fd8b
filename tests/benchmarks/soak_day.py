"""Eight hours of mixed use in half an hour of a moved clock: nothing grows but what is kept.

    python tests/benchmarks/soak_day.py [--hours 8] [--minutes 30] [--folder DIR]

A sandbox, a listener and a handler run as processes of their own, by a clock that is moved a minute
at a time. Each minute brings events and a command or two; the handler answers 503 for a while, the
machine sleeps (both processes stand still while the clock goes on), and in the first quarter the
listener is stopped and killed. Descriptors, threads, memory and files are looked at each minute; it
ends with 1 where a quarter of the day later there is more of them than what was kept explains, or
where an event is lost.
"""

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from http.client import HTTPConnection
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.command import ROOT, parser
from support.forks.moved import MovedClock
from support.listening import OK, Received, TargetServer, status_line
from support.serving import free_port
from svc.clock import SystemClock
from svc.state import Database

SVC = (sys.executable, "-c", "from support.forks.moved import main; main()")
MINUTE = 60.0
EVENTS = 6  # that are triggered each minute
SLEEP_MINUTES = 20
HEADERS = {"Authorization": "Bearer sk_test_sandbox", "Content-Type": "application/json"}
ORDER = ["--currency", "EUR", "--country", "DE", "--amount", "12900"]
ITEM = ["--item", "name=Jacket,hs_code=6203.39,quantity=1,unit_amount=12900"]
COMMANDS = (
    ("orders", "create", *ORDER, *ITEM, "--new-request"),
    ("orders", "list", "--all"),
    ("events", "inbox", "--failed", "--pending"),
    ("requests", "list"),
    ("events", "replay", "--failed"),
    ("payments", "list"),
    ("whoami",),
    ("state",),
)


class Look(NamedTuple):
    """What two processes and their folder hold at one minute."""

    descriptors: tuple[int, int]
    threads: tuple[int, int]
    megabytes: tuple[float, float]
    logs: int
    files: int
    state: int
    sandbox: int
    kept: int


class SoakDay:
    """One run: its processes, its clock, and what was seen each minute."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self.failing, self.answered = folder, False, set[str]()
        self.clock = stack.enter_context(MovedClock(folder))
        self.target = stack.enter_context(TargetServer(self._reply))
        self.port = free_port()
        self.env = {**os.environ, **self.clock.env, "PYTHONPATH": str(ROOT / "tests")}
        self.env |= {f"SVC_{name}_DIR": str(folder / name) for name in ("STATE", "CONFIG", "CACHE")}
        self.env |= {"SVC_BASE_URL": f"http://127.0.0.1:{self.port}"}
        self.env |= {"SVC_API_KEY": "sk_test_sandbox"}
        self.sandbox = self._run(
            "sandbox", "start", "--port", str(self.port), "--db", str(folder / "sandbox.db")
        )
        stack.callback(self._end, lambda: self.sandbox)
        self._wait(self._answers)
        self.listen()
        stack.callback(self._end, lambda: self.listener)
        self.commands = cycle(COMMANDS)
        self.looks: list[Look] = []

    def _reply(self, request: Received) -> bytes:
        if self.failing:
            return status_line(503)
        self.answered.add(json.loads(request.body)["id"])
        return OK

    def _run(self, *argv: str) -> "subprocess.Popen[bytes]":
        command = [*SVC, *argv]
        silent = subprocess.DEVNULL
        return subprocess.Popen(command, env=self.env, stdin=silent, stdout=silent, stderr=silent)

    def _end(self, process: Callable[[], "subprocess.Popen[bytes]"]) -> None:
        process().kill()
        process().wait()

    def _wait(self, true: Callable[[], bool]) -> None:
        until = time.monotonic() + 60
        while not true():
            assert time.monotonic() < until
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            return bool(self.ask("GET", "/_sandbox/health"))
        except OSError:
            return False

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Makes one call at the sandbox."""
        line = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            sent = None if body is None else json.dumps(body)
            line.request(method, path, sent, {**HEADERS, "Svc-Sandbox": "1"})
            answer = line.getresponse()
            data = answer.read()
            assert answer.status == 200, data[:300]
            return json.loads(data)
        finally:
            line.close()

    def listen(self) -> None:
        """Starts the listener, which takes up what was left."""
        ready = self.folder / "ready.json"
        ready.unlink(missing_ok=True)
        to = ("--forward-to", str(self.target.port), "--ready-file", str(ready), "-o", "ndjson")
        self.listener = self._run("events", "listen", *to)
        self._wait(ready.exists)

    def minute(self, number: int, minutes: int) -> None:
        """One minute of the day."""
        self.clock.move(MINUTE)
        for _ in range(EVENTS):
            self.ask("POST", "/_sandbox/events/trigger", {"type": "order.paid"})
        self.failing = number % 45 in (10, 11, 12)
        done = subprocess.run(
            [*SVC, *next(self.commands)],
            env=self.env,
            capture_output=True,
            check=False,
        )
        assert done.returncode in (0, 11), (done.args, done.returncode, done.stderr[-500:])
        if number % 60 == 30:
            self.sleep()
        if number < minutes / 4 and number % 20 == 15:
            (self.listener.terminate if number % 40 == 15 else self.listener.kill)()
            self.listener.wait(20)
            self.listen()
        self.looks.append(self.look())

    def sleep(self) -> None:
        """Has the machine sleep: both stand still while the clock goes on."""
        for one in (self.listener, self.sandbox):
            one.send_signal(signal.SIGSTOP)
        self.clock.move(SLEEP_MINUTES * MINUTE)
        time.sleep(0.5)
        for one in (self.sandbox, self.listener):
            one.send_signal(signal.SIGCONT)

    def look(self) -> Look:
        pids = (self.listener.pid, self.sandbox.pid)
        state, sandbox = self.folder / "STATE" / "state.db", self.folder / "sandbox.db"
        with Database.open(state, clock=SystemClock()) as opened:
            [events] = opened.rows("SELECT COUNT(*) AS n FROM inbox")
            [requests] = opened.rows("SELECT COUNT(*) AS n FROM requests")
        return Look(
            (descriptors(pids[0]), descriptors(pids[1])),
            (status_of(pids[0], "Threads"), status_of(pids[1], "Threads")),
            (status_of(pids[0], "VmRSS") / 1024, status_of(pids[1], "VmRSS") / 1024),
            max(size(Path(f"{one}-wal")) for one in (state, sandbox)),
            sum(1 for _ in self.folder.rglob("*")),
            size(state),
            size(sandbox),
            events["n"] + requests["n"],
        )

    def settle(self) -> list[str]:
        """Waits until all is forwarded; gives what was lost."""
        self.failing = False
        for _ in range(120):
            self.clock.move(MINUTE)
            time.sleep(0.5)
            with Database.open(self.folder / "STATE" / "state.db", clock=SystemClock()) as opened:
                [row] = opened.rows("SELECT COUNT(*) AS n FROM ledger WHERE state < 4")
                kept = {one["event_id"] for one in opened.rows("SELECT event_id FROM inbox")}
            pending = self.ask("GET", "/_sandbox/deliveries?status=pending&limit=1")["data"]
            if not row["n"] and not pending:
                break
        made = set(self.made())
        lost = [f"{len(made - kept)} events never came"] if made - kept else []
        return lost + ([f"{len(kept - self.answered)} not taken"] if kept - self.answered else [])

    def made(self) -> list[str]:
        """The ids of all events of the sandbox."""
        found: list[str] = []
        after = ""
        while True:
            page = self.ask("GET", f"/_sandbox/events?limit=100{after}")
            found += [one["id"] for one in page["data"]]
            if not page["has_more"]:
                return found
            after = f"&starting_after={found[-1]}"


def descriptors(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def status_of(pid: int, name: str) -> int:
    """A number of what the system tells of a process."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.split(f"{name}:")[1].split()[0])


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def grown(looks: list[Look]) -> list[str]:
    """What is more in the last quarter of a day than in the second one, and not kept."""
    quarter = len(looks) // 4
    before, after = looks[quarter : 2 * quarter], looks[-quarter:]

    def middle(some: list[Look], of: Callable[[Look], float]) -> float:
        return statistics.median(map(of, some))

    measures: dict[str, tuple[Callable[[Look], float], float]] = {
        "descriptors of the listener": (lambda one: one.descriptors[0], 3),
        "descriptors of the sandbox": (lambda one: one.descriptors[1], 3),
        "threads of the listener": (lambda one: one.threads[0], 1),
        "threads of the sandbox": (lambda one: one.threads[1], 1),
        "MB of the listener": (lambda one: one.megabytes[0], 4),
        "MB of the sandbox": (lambda one: one.megabytes[1], 4),
        "files": (lambda one: one.files, 5),
        "MB of logs": (lambda one: one.logs / 2**20, 8),
        "bytes of state for each that is kept": (lambda one: one.state / one.kept, 200),
        "bytes of sandbox for each that is kept": (lambda one: one.sandbox / one.kept, 400),
    }
    wrong = []
    for name, (of, room) in measures.items():
        old, new = middle(before, of), middle(after, of)
        print(f"{name:40} {old:10,.1f} {new:10,.1f}", flush=True)
        if new > old + room:
            wrong.append(f"{name} grew from {old:.1f} to {new:.1f}")
    return wrong


def main() -> int:
    """Runs the day and says what grew."""
    command = parser(__doc__)
    command.add_argument("--hours", type=float, default=8.0, help="of the moved clock")
    command.add_argument("--minutes", type=float, default=30.0, help="of real time at least")
    command.add_argument("--folder", help="where the files lie; default: a temporary folder")
    asked = command.parse_args()
    minutes = int(asked.hours * 60)
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder, ExitStack() as stack:
        day = SoakDay(Path(folder), stack)
        begun = time.monotonic()
        for number in range(minutes):
            day.minute(number, minutes)
            pace = begun + (number + 1) * asked.minutes * 60 / minutes
            time.sleep(max(pace - time.monotonic(), 0))
            if number % 30 == 29:
                print(f"{(number + 1) / 60:.1f} h: {day.looks[-1]}", flush=True)
        wrong = day.settle()
        print(f"{day.looks[-1].kept:,} kept, {len(day.answered):,} events taken")
        wrong += grown(day.looks)
    print("\n".join(wrong) or "nothing grew but what is kept, and nothing is lost")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
