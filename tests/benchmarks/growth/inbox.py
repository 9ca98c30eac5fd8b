"""An inbox of so many events of 2 KB: most were forwarded, a fifth failed, some wait."""

import json
import os
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path

from benchmarks import bench_listen
from benchmarks.bench_listen import SECRET
from benchmarks.growth.measuring import SVC, Spent, State, Work, environment, run_command, service
from svc.clock import SystemClock
from svc.listen.inbox.interfaces import Batch, ForwardAttempt, InboundEvent
from svc.listen.inbox.listeners import ListenerId, load_remembered, remember
from svc.listen.inbox.sqlite import SqliteInbox
from svc.listen.names import Listening
from svc.listen.receiver.server import make_path
from svc.listen.verify.verify import Delivery, read_facts
from svc.state import Database

BURST = 20_000
SENDERS = 16
GROUP = 500
DAY = 24 * 3600
KEPT_DAYS = 25  # nothing of it is old enough to be forgotten yet
NOTE = "x" * 1780
HEADERS = b"Content-Type: application/json; charset=utf-8\r\nSvc-Signature: t=1,v1=00\r\n"
BODY = (
    '{"id":"%s","object":"event","type":"order.paid","created":"2026-10-01T09:00:00Z",'
    '"livemode":false,"data":{"object":{"id":"ord_%020d","object":"order","amount":12900,'
    '"currency":"EUR","note":"%s"}}}'
)


def inbound(number: int, at: float, target: str) -> InboundEvent:
    """An event of about 2 KB."""
    body = (BODY % (f"evt_{os.urandom(12).hex()}", number, NOTE)).encode()
    return InboundEvent(Delivery(body, HEADERS, at, read_facts(body)), None, targets=(target,))


def attempt(seq: int, target: str) -> ForwardAttempt:
    """How an event was forwarded: each fifth failed."""
    failed = seq % 5 == 0
    status, verdict = (400, "failed") if failed else (200, "done")
    return ForwardAttempt(
        seq,
        "order.paid",
        target,
        1,
        time.time(),
        2.0,
        status,
        None,
        b"",
        verdict,  # type: ignore[arg-type]
    )


def fill(state: Database, origin: str, target: str, size: int) -> None:
    """Keeps events and notes how they were forwarded, by the inbox's own code; 20 wait."""
    listening = Listening(origin, "default", "test", "given", ("*",))
    scope = listening.scope(0)
    claim = load_remembered(state, scope, listening, make_path)
    remember(state, ListenerId(scope, 4245, claim.path), 4245, None, [target])
    state.rows("PRAGMA synchronous = OFF")
    inbox, begun = SqliteInbox(state, scope), time.time() - KEPT_DAYS * DAY
    inbox.begin([target], ordered=False, anew=True)
    results: list[ForwardAttempt] = []
    for first in range(0, size, GROUP):
        numbers = range(first, min(first + GROUP, size))
        group = [inbound(n, begun + n * KEPT_DAYS * DAY / size, target) for n in numbers]
        kept = inbox.store(Batch(group, results))
        results = [attempt(one.seq, target) for one in kept]  # type: ignore[union-attr]
    inbox.store(Batch(attempts=results[:-20]))
    inbox.close()


@contextmanager
def inbox(folder: Path, size: int) -> Iterator[Sequence[Work]]:
    """What P14 asks for."""
    with service() as port:
        target = f"http://127.0.0.1:{port}/hook"
        path = folder / "state" / "state.db"
        begun = time.perf_counter()
        with Database.open(path, clock=SystemClock()) as state:
            fill(state, f"http://127.0.0.1:{port}", target, size)
        took = time.perf_counter() - begun
        print(f"  {size:,} events made in {took:.0f} s: {path.stat().st_size >> 20} MB", flush=True)
        env = {**environment(folder, port), "SVC_WEBHOOK_SECRET": SECRET}

        def run_svc(*words: str) -> partial[Spent]:
            return partial(run_command, [SVC, "events", *words], env)

        started = ("listen", "--forward-to", target, "--timeout", "0.01", "-o", "ndjson")
        half = time.strftime("%Y-%m-%d", time.gmtime(time.time() - KEPT_DAYS * DAY / 2))
        yield [
            Work("inbox", "1.5 x that of 1,000", run_svc("inbox"), 7),
            Work("inbox --failed", "1.5 x", run_svc("inbox", "--failed"), 7),
            Work("inbox --pending", "1.5 x", run_svc("inbox", "--pending"), 7),
            Work("inbox --since 1h", "told", run_svc("inbox", "--since", "1h"), 3),
            Work("start and end of listen", "1 s", run_svc(*started), 5),
            Work(f"burst of {BURST:,}, an event", "1.1 x", partial(burst, env), 3),
            Work(
                "prune --failed, a tenth",
                "linear, flat",
                run_svc("prune", "--failed", "--before", half, "--yes"),
                1,
            ),
            Work("replay --failed, a tenth", "linear, flat", run_svc("replay", "--failed"), 1),
            Work("longest wait for what is forgotten", "50 ms", partial(prune, path), 1),
        ]


def burst(env: dict[str, str]) -> Spent:
    """The listener's processor time for each event of a burst."""
    folder = Path(env["SVC_STATE_DIR"]).parent
    ready = folder / "ready.json"
    with ExitStack() as stack:
        target = stack.enter_context(bench_listen.role("target"))
        told = ["--forward-to", bench_listen.line(target), "--ready-file", str(ready)]
        out = stack.enter_context((folder / "out.ndjson").open("w"))
        process = subprocess.Popen(
            [SVC, "events", "listen", "-o", "ndjson", *told], env=env, stdout=out
        )
        stack.callback(process.wait)
        stack.callback(process.terminate)
        while not ready.exists():
            assert process.poll() is None
            time.sleep(0.01)
        url = json.loads(ready.read_text())["url"]
        sender = bench_listen.role("sender", url, str(BURST), "burst", str(SENDERS))
        subject = bench_listen.Subject(stack.enter_context(sender), target, process.pid)
        assert bench_listen.line(subject.feeder) == "ready"
        before = bench_listen.cpu(process.pid)
        subject.start()
        while subject.count() < BURST:
            assert process.poll() is None
            time.sleep(0.05)
        spent = (bench_listen.cpu(process.pid) - before) / BURST
        return Spent(spent, bench_listen.resident(process.pid))


def prune(path: Path) -> Spent:
    """The longest that another writer waits while what is old enough is forgotten in pieces."""
    ended = threading.Event()
    with ThreadPoolExecutor(2) as pool, Database.open(path, clock=SystemClock()) as state:
        waiting = pool.submit(longest_wait, path, ended)
        syncing = pool.submit(longest_sync, path.with_name("floor"), ended)
        kept = SqliteInbox(state, "pruning")
        reached: int | None = 0
        while reached is not None:
            reached = kept.prune(time.time() + 40 * DAY, reached)
            time.sleep(0.02)  # as a listener does
        ended.set()
        floor = syncing.result() * 1000
        print(f"  floor of the next: the disk's longest sync of 4 KB meanwhile {floor:,.0f} ms")
        return Spent(waiting.result(), bench_listen.resident(os.getpid()))


def longest_wait(path: Path, ended: threading.Event) -> float:
    """How long a writer that asks every millisecond has waited for its turn at most, in seconds."""
    longest, since = 0.0, None
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as other:
        while not ended.wait(0.001):
            try:
                other.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    raise
                since = since or time.perf_counter()
            else:
                other.execute("ROLLBACK")
                longest = max(longest, time.perf_counter() - since) if since else longest
                since = None
    return longest


def longest_sync(path: Path, ended: threading.Event) -> float:
    """How long the disk takes at most to keep 4 KB, in seconds."""
    longest = 0.0
    with path.open("wb", buffering=0) as file:
        while not ended.wait(0.02):
            file.write(bytes(4096))
            begun = time.perf_counter()
            os.fdatasync(file.fileno())
            longest = max(longest, time.perf_counter() - begun)
    return longest


STATES: dict[str, State] = {"inbox": inbox}
