"""kill -9 of the listener and of its commands, at drawn moments (`--run`).

A few kills in the slow run; 500 with `SVC_TEST_LONG=1`.
"""

import os
import random
import signal
import sys
import threading
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

import pytest

from support.kills.killable import end, spawn
from support.listening import delivery, event, outcomes, status, talk
from support.suite.patience import until
from svc.clock import SystemClock
from svc.state import Database

LONG = os.environ.get("SVC_TEST_LONG") == "1"
KILLS = 50 if LONG else 4
SEEDS = range(10) if LONG else (37,)
OBJECTS = 4
# Each line is one write to a file that is appended to; the event counts once `end` stands there.
SCRIPT = """#!/bin/sh
echo "begin $SVC_EVENT_ID $SVC_OBJECT_ID ${SVC_REDELIVERED:-0} $$" >> LOG
cat > /dev/null
sleep 0.02
echo "end $SVC_EVENT_ID $SVC_OBJECT_ID ${SVC_REDELIVERED:-0} $$" >> LOG
"""


class CommandShop:
    """A listener with a command, a log of its runs, and a service that sends to it."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "log"
        self.log.touch()
        script = folder / "fulfil.sh"
        script.write_text(SCRIPT.replace("LOG", str(self.log)))
        script.chmod(0o755)
        self.state = folder / "state" / "state.db"
        self._command = str(script)
        self.sent: dict[int, int] = defaultdict(int)  # by object: how many were answered 200
        self.over = threading.Event()
        self.start()

    def start(self) -> None:
        self.process, self.port = spawn(self.state, self._command)

    def kill(self) -> None:
        assert self.process.poll() is None, "it ended by itself"
        end(self.process)

    def send(self, number: int) -> None:
        """Sends the events of one object, each until it is answered 200, then the next."""
        while not self.over.is_set():
            name = number * 100_000 + self.sent[number]
            data = delivery(
                event(name, data={"object": {"id": f"ord_{number}"}}), now=int(time.time())
            )
            with suppress(OSError):
                if status(talk(self.port, data)) == 200:
                    self.sent[number] += 1
            time.sleep(0.03)

    def lines(self) -> list[tuple[str, str, str, int, int]]:
        """What, event, object, marker and process of each step of a run."""
        found = [line.split() for line in self.log.read_text().splitlines()]
        return [(what, name, of, int(mark), int(pid)) for what, name, of, mark, pid in found]

    def kill_a_run(self) -> bool:
        """Kills a run under way, if there is one; its children live on."""
        lines = self.lines()[-40:]
        ended = {(name, pid) for what, name, _, _, pid in lines if what == "end"}
        for what, name, _, _, pid in reversed(lines):
            if what == "begin" and (name, pid) not in ended:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    return True
        return False


@pytest.mark.slow(seconds=4)
@pytest.mark.parametrize("seed", SEEDS)
def test_each_event_is_run_once_or_marked_and_in_order(tmp_path: Path, seed: int) -> None:
    """R50, R124: whatever is killed, each event that was acknowledged is taken, in its turn."""
    shop = CommandShop(tmp_path)
    senders = [threading.Thread(target=shop.send, args=(one,)) for one in range(OBJECTS)]
    for sender in senders:
        sender.start()
    try:
        killed = kill_often(shop, random.Random(seed))
        shop.over.set()
        for sender in senders:
            sender.join()
        wait_for_all(shop)
    finally:
        shop.over.set()
        shop.kill()
    with Database.open(shop.state, clock=SystemClock()) as opened:
        kept = outcomes(opened)
    total = sum(shop.sent.values())
    assert len(kept) >= total  # an answer that a kill cut off is sent again, and is a copy
    assert set(kept) == {"forwarded"}
    repeated = check(shop)
    print(f"{total} events, {killed}, {repeated} repeated")
    assert repeated <= OBJECTS * killed["listener"] + killed["run"]


@pytest.mark.slow(seconds=1)
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it lives on")
def test_run_dies_with_a_listener_that_is_killed(tmp_path: Path) -> None:
    """Else it would go on beside the run that the next listener begins for the same event."""
    script, pid = tmp_path / "hang.sh", tmp_path / "pid"
    script.write_text(f"#!/bin/sh\necho $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 60\n")
    script.chmod(0o755)
    process, port = spawn(tmp_path / "state" / "state.db", str(script))
    assert status(talk(port, delivery(event(), now=int(time.time())))) == 200
    until(pid.exists)
    end(process)
    until(lambda: not Path("/proc", pid.read_text().strip()).exists())


def kill_often(shop: CommandShop, drawn: random.Random) -> dict[str, int]:
    killed = {"listener": 0, "run": 0}
    while sum(killed.values()) < KILLS:
        time.sleep(drawn.uniform(0.0, 0.25))
        if drawn.random() < 0.5:
            shop.kill()
            killed["listener"] += 1
            shop.start()
        else:
            killed["run"] += shop.kill_a_run()
    return killed


def wait_for_all(shop: CommandShop) -> None:
    limit = time.monotonic() + 60
    while True:
        ended = {name for what, name, *_ in shop.lines() if what == "end"}
        wanted = {f"evt_{of * 100_000 + n}" for of, many in shop.sent.items() for n in range(many)}
        if wanted <= ended and is_settled(shop):
            return
        assert time.monotonic() < limit, sorted(wanted - ended)[:5]
        time.sleep(0.05)


def is_settled(shop: CommandShop) -> bool:
    with Database.open(shop.state, clock=SystemClock()) as opened:
        return None not in outcomes(opened)


def check(shop: CommandShop) -> int:
    """Holds each line of the log against what is promised; gives how many runs were repeated."""
    begun: dict[str, int] = defaultdict(int)
    latest: dict[str, tuple[str, bool]] = {}  # by object: its last event, and whether that ended
    runs: dict[str, int] = {}
    for what, name, of, mark, pid in shop.lines():
        if what == "end":
            latest[of] = (name, True)
            assert runs[of] == pid, f"a run of {name} went on beside the next one"
            continue
        runs[of] = pid
        assert mark > 0 or not begun[name], f"{name} came again unmarked"
        begun[name] += 1
        before, ended = latest.get(of, (name, True))
        assert before == name or ended, f"{name} overtook {before}"
        assert int(before[4:]) <= int(name[4:]), f"{name} came after {before}"
        latest[of] = (name, before == name and ended)
    return sum(count - 1 for count in begun.values())
