"""A team's log beside the embedded inbox: how many events a second `store` takes, in one run.

    python tests/benchmarks/bench_log.py [SECONDS]

The figures are good as ratios only: three servers of a log share this machine and its disk.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.command import parser
from support.listening import NOW
from support.log_servers import Servers, servers
from support.team_log import arrival, connect, make_streams
from svc.clock import ManualClock
from svc.listen.inbox.inbox import Arrival, Batch, Inbox, Kept
from svc.listen.inbox.sqlite import SqliteInbox
from svc.listen.log.inboxes import LogInbox
from svc.state import Database

GROUPS = (1, 32, 256)
NUMBERS = count()


def group_of(size: int) -> list[Arrival]:
    return [arrival(next(NUMBERS), note="x" * 700) for _ in range(size)]


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
        taken += sum(isinstance(one, Kept) for one in kept)
    return taken / sum(times), statistics.median(times) * 1000


def embedded(open_: ExitStack, folder: Path) -> Inbox:
    state = Database.open(folder / "state" / "state.db", clock=ManualClock(NOW))
    open_.enter_context(state)
    return SqliteInbox(state, "bench")


def log(nodes: int) -> Callable[[ExitStack, Path], Inbox]:
    def opened(open_: ExitStack, folder: Path) -> Inbox:
        running = open_.enter_context(servers(folder, nodes))
        make_streams(running)
        print(f"  memory of a server: {memory(running)} MB")
        return LogInbox(open_.enter_context(connect(running)), "test")

    return opened


def memory(running: Servers) -> str:
    found = []
    for node in running.nodes:
        assert node.process is not None
        text = Path(f"/proc/{node.process.pid}/status").read_text()
        found.append(int(text.partition("VmRSS:")[2].split()[0]) // 1024)
    return ", ".join(map(str, found))


def main(seconds: float) -> None:
    print(f"{'':22}" + "".join(f"{size:>10} a group" for size in GROUPS))
    kinds = {"embedded inbox": embedded, "log, one server": log(1), "log, three servers": log(3)}
    for name, opens in kinds.items():
        with tempfile.TemporaryDirectory() as folder, ExitStack() as open_:
            inbox = opens(open_, Path(folder))
            found = [rate(inbox, size, seconds) for size in GROUPS]
            rates = "".join(f"{each:>12,.0f} /s  " for each, _ in found)
            print(f"{name:22}{rates}  a lone event: {found[0][1]:.1f} ms")


if __name__ == "__main__":
    command = parser(__doc__)
    command.add_argument("seconds", nargs="?", type=float, default=3.0)
    main(command.parse_args().seconds)
