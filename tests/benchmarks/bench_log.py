"""A team's log beside the embedded inbox, in one run.

    python tests/benchmarks/bench_log.py store [SECONDS]
    python tests/benchmarks/bench_log.py flow [EVENTS]
    python tests/benchmarks/bench_log.py growth [EVENTS]
    python tests/benchmarks/bench_log.py flat [EVENTS]
    python tests/benchmarks/bench_log.py slept [EVENTS]
    python tests/benchmarks/bench_log.py ids [EVENTS]

`store`: how many events a second an inbox takes. `flow`: answered and delivered a second, a lone
event from end to end, memory. `growth`: one, two, four and eight laptops of one log with 32 senders, and the
processor's time an event of receiver, node and laptop. `flat`: the memory of a listener that reads
so many events, 1,000,000 if nothing is said. `slept`: how long a laptop that slept through so many
takes until it is level, 100,000 if nothing is said; the floor (`log_floor.py`) reads the same pages
and posts each event, and does nothing else. `ids`: what a server needs for the
ids of so many events, 300,000 if nothing is said; it takes two or three minutes, `flow` one.

The figures are good as ratios only: three servers of a log share this machine and its disk.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.bench_listen import SECRET, Subject, cpu, line, listener, paces, resident, role
from benchmarks.command import parser
from support.clocks import ManualClock
from support.listening import NOW
from support.team.log import KEY, connect, inbound, make_streams, publish
from support.team.members import Member
from support.team.servers import Servers, servers
from svc.listen.inbox.interfaces import Batch, InboundEvent, Inbox, StoreResult
from svc.listen.inbox.sqlite import SqliteInbox
from svc.listen.log.inboxes import LogInbox
from svc.state import Database

GROUPS = (1, 32, 256)
NUMBERS = count()
SENDERS = 16
TEAM_SENDERS = 32


def group_of(size: int) -> list[InboundEvent]:
    return [inbound(next(NUMBERS), note="x" * 700) for _ in range(size)]


def rate(inbox: Inbox, size: int, seconds: float) -> tuple[float, float]:
    """Gives events a second, and the median of a group's time in milliseconds."""
    inbox.store(Batch(group_of(size)))
    taken, times = 0, []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        group = group_of(size)
        started = time.perf_counter()
        kept = inbox.store(Batch(group))
        times.append(time.perf_counter() - started)
        taken += sum(isinstance(one, StoreResult) for one in kept)
    return taken / sum(times), statistics.median(times) * 1000


def embedded(open_: ExitStack, folder: Path) -> Inbox:
    state = Database.open(folder / "state" / "state.db", clock=ManualClock(NOW))
    open_.enter_context(state)
    return SqliteInbox(state, "bench")


def log(nodes: int) -> Callable[[ExitStack, Path], Inbox]:
    def opened(open_: ExitStack, folder: Path) -> Inbox:
        running = open_.enter_context(servers(folder, nodes))
        make_streams(running)
        return LogInbox(open_.enter_context(connect(running)), "test", KEY)

    return opened


def memory(running: Servers) -> str:
    """The most that each server has had, in MB."""
    pids = [node.process.pid for node in running.nodes if node.process is not None]
    return ", ".join(f"{resident(pid):.0f}" for pid in pids)


def store(seconds: float) -> None:
    print(f"{'':22}" + "".join(f"{size:>10} a group" for size in GROUPS))
    kinds = {"embedded inbox": embedded, "log, one server": log(1), "log, three servers": log(3)}
    for name, opens in kinds.items():
        with tempfile.TemporaryDirectory() as folder, ExitStack() as open_:
            inbox = opens(open_, Path(folder))
            found = [rate(inbox, size, seconds) for size in GROUPS]
            rates = "".join(f"{each:>12,.0f} /s  " for each, _ in found)
            print(f"{name:22}{rates}  a lone event: {found[0][1]:.1f} ms", flush=True)


def member(folder: Path, *argv: str) -> Member:
    made = Member(folder, ("events", *argv), secret=SECRET)
    made.start()
    end = time.monotonic() + 30
    while not made.ready:
        assert time.monotonic() < end, made.errors
        time.sleep(0.02)
    return made


def pid_of(one: Member) -> int:
    assert one.process is not None
    return one.process.pid


@contextmanager
def team(
    nodes: int, listeners: int, events: int, pace: str, senders: int
) -> Iterator[tuple[list[Subject], Servers, Member]]:
    """A receiver and so many listeners of a log, each with a target of its own."""
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as open_:
        folder = Path(temporary)
        running = open_.enter_context(servers(folder / "log", nodes))
        make_streams(running)
        subjects = []
        for number in range(listeners):
            target = open_.enter_context(role("target"))
            reading = ("listen", "--from", running.url(), "--name", f"l{number}")
            one = member(folder / f"l{number}", *reading, "--forward-to", line(target))
            open_.callback(one.kill)
            subjects.append((target, one))
        receiver = member(folder / "r", "receive", "--to", running.url(), "--tunnel", "none")
        open_.callback(receiver.kill)
        url = "http://127.0.0.1:{}{}".format(*receiver.door)
        feeder = open_.enter_context(role("sender", url, str(events), pace, str(senders)))
        yield [Subject(feeder, target, pid_of(one)) for target, one in subjects], running, receiver


@contextmanager
def through_log(events: int, pace: str, senders: int) -> Iterator[Subject]:
    with team(3, 1, events, pace, senders) as ([subject], _, _):
        yield subject


def flowing(feeder: "subprocess.Popen[str]", subjects: list[Subject], events: int) -> list[float]:
    """Seconds until all were answered, and until each target has them."""
    assert line(feeder) == "ready"
    started = time.perf_counter()
    subjects[0].start()
    answered, found = 0.0, [0.0] * len(subjects)
    while not answered or not all(found):
        now = time.perf_counter() - started
        assert now < 900
        answered = answered or (now - 1 if feeder.poll() is not None else 0.0)  # it waits for 1 s
        found = [
            was or (now if one.count() >= events else 0.0)
            for was, one in zip(found, subjects, strict=True)
        ]
        time.sleep(0.01)
    return [answered, *found]


def flow(events: int) -> None:
    print(f"{events} events of 2 KB, {SENDERS} connections")
    with listener(None, [], events, "burst", SENDERS) as one:
        answered, delivered = flowing(one.feeder, [one], events)
        told(f"embedded, listener {resident(one.pid):.0f} MB", events, answered, delivered)
    with team(3, 1, events, "burst", SENDERS) as ([one], running, receiver):
        answered, delivered = flowing(one.feeder, [one], events)
        sizes = f"listener {resident(one.pid):.0f} MB, receiver {resident(pid_of(receiver)):.0f} MB"
        told(f"log, {sizes}, servers {memory(running)} MB", events, answered, delivered)
    for name, opened in (("embedded", partial(listener, None, [])), ("log", through_log)):
        p50, p99 = paces(opened)
        print(
            f"{name:9} a lone event: p50 {p50 * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms", flush=True
        )


def told(name: str, events: int, answered: float, delivered: float) -> None:
    rates = f"{events / answered:,.0f} answered/s, {events / delivered:,.0f} delivered/s"
    print(f"{rates}  {name}", flush=True)


def growth(events: int) -> None:
    print(f"{events} events of 2 KB, {TEAM_SENDERS} connections, three servers")
    for listeners in (1, 2, 4, 8):
        with team(3, listeners, events, "burst", TEAM_SENDERS) as (subjects, running, receiver):
            pids = {
                "receiver": [pid_of(receiver)],
                "node": [one.process.pid for one in running.nodes if one.process is not None],
                "laptop": [one.pid for one in subjects],
            }
            before = {name: sum(map(cpu, them)) for name, them in pids.items()}
            answered, *delivered = flowing(subjects[0].feeder, subjects, events)
            costs = [
                f"{name} {(sum(map(cpu, them)) - before[name]) / len(them) / events * 1e6:.0f} us"
                for name, them in pids.items()
            ]
            whole = listeners * events / max(delivered)
            sizes = ", ".join(f"{resident(one.pid):.0f}" for one in subjects)
            print(
                f"{listeners} listeners: {events / answered:,.0f} answered/s, {whole:,.0f} "
                f"delivered/s in all; of the processor an event: {', '.join(costs)}; "
                f"laptops {sizes} MB, servers {memory(running)} MB",
                flush=True,
            )


def now_resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def flat(events: int) -> None:
    """Reads so many events that are there already; they come without a fsync each."""
    step = max(events // 10, 1)
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as open_:
        folder = Path(temporary)
        running = open_.enter_context(servers(folder / "log", 1, sync=""))
        make_streams(running, max_bytes=1500 << 20)
        connection = open_.enter_context(connect(running))
        started = time.perf_counter()
        for first in range(0, events, step):
            publish(connection, range(first, min(first + step, events)))
        print(f"{events} published in {time.perf_counter() - started:.0f} s", flush=True)
        target = open_.enter_context(role("target"))
        reading = ("listen", "--from", running.url(), "--from-start", "all")
        one = Member(
            folder / "l", ("events", *reading, "--print", "none", "--forward-to", line(target))
        )
        one.start()
        open_.callback(one.kill)
        subject, started = Subject(target, target, pid_of(one)), time.perf_counter()
        for wanted in range(step, events + 1, step):
            while (there := subject.count()) < wanted:
                time.sleep(0.05)
            sizes = f"listener {now_resident(subject.pid):.0f} MB, server {memory(running)} MB"
            print(f"{there:9,} after {time.perf_counter() - started:.0f} s: {sizes}", flush=True)


def slept(events: int) -> None:
    """Has a laptop read one event, sleep through so many, and catch up."""
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as open_:
        folder = Path(temporary)
        running = open_.enter_context(servers(folder / "log", 3, sync=""))
        make_streams(running, max_bytes=1500 << 20)
        connection = open_.enter_context(connect(running))
        target = open_.enter_context(role("target"))
        reading = ("listen", "--from", running.url(), "--name", "laptop", "--from-start", "all")
        argv = ("events", *reading, "--print", "none", "--forward-to", line(target))
        one = Member(folder / "l", argv)
        open_.callback(one.kill)
        one.start()
        publish(connection, range(1))
        while Subject(target, target, pid_of(one)).count() < 1:
            time.sleep(0.05)
        one.kill()
        for first in range(1, events + 1, 10_000):
            publish(connection, range(first, min(first + 10_000, events + 1)))
        one.start()
        asleep = f"{events:,} events slept through"
        level(asleep, Subject(target, target, pid_of(one)), 1 + events)
        one.kill()
        with reading_only(running, argv[-1]) as floor:
            level("the floor", Subject(target, target, floor.pid), 1 + 2 * events)


@contextmanager
def reading_only(running: Servers, port: str) -> Iterator["subprocess.Popen[bytes]"]:
    """The floor, which reads from one of the servers and posts to a port."""
    script = Path(__file__).with_name("log_floor.py")
    server = f"nats://127.0.0.1:{running.nodes[0].port}"
    floor = subprocess.Popen([sys.executable, script, server, port])
    try:
        yield floor
    finally:
        floor.kill()
        floor.wait()


def level(name: str, one: Subject, wanted: int) -> None:
    """Tells how long it takes from now until the target has so many events."""
    started = time.perf_counter()
    while one.count() < wanted:
        time.sleep(0.05)
    took, spent = time.perf_counter() - started, cpu(one.pid)
    print(
        f"{name}: level after {took:.1f} s, {spent:.1f} s of its processor, "
        f"{resident(one.pid):.0f} MB",
        flush=True,
    )


def ids(events: int) -> None:
    """Publishes so many small events, with ids that are forgotten at once and with all known."""
    for name, seconds in (("a moment", 0.1), ("three days", 3 * 86400)):
        with tempfile.TemporaryDirectory() as folder, ExitStack() as open_:
            running = open_.enter_context(servers(Path(folder), 1, sync=""))
            make_streams(running, duplicate_window=int(seconds * 1e9))
            connection = open_.enter_context(connect(running))
            [node] = running.nodes
            assert node.process is not None
            before, started = now_resident(node.process.pid), time.perf_counter()
            for first in range(0, events, 20_000):
                publish(connection, range(first, min(first + 20_000, events)))
            took = time.perf_counter() - started
            after = now_resident(node.process.pid)
            print(
                f"ids of {name}: {before:.0f} MB before, {after:.0f} MB after {events:,} events, "
                f"{(after - before) * 2**20 / events:.0f} bytes each; {took:.0f} s",
                flush=True,
            )


KINDS: dict[str, tuple[Callable[[int], None], int]] = {
    "store": (store, 3),
    "flow": (flow, 8000),
    "growth": (growth, 4000),
    "flat": (flat, 1_000_000),
    "slept": (slept, 100_000),
    "ids": (ids, 300_000),
}


def main() -> None:
    command = parser(__doc__)
    command.add_argument("kind", choices=KINDS)
    command.add_argument("amount", nargs="?", type=int, help="events, or seconds of store")
    asked = command.parse_args()
    measure, usual = KINDS[asked.kind]
    print(f"load {os.getloadavg()[0]:.1f}", flush=True)
    measure(asked.amount or usual)


if __name__ == "__main__":
    main()
