"""A listener for a long time: kills, stops and flapping targets, real processes.

`python soak_listen.py --seconds 1200` prints what happened and ends with 1 if anything was lost, or
came twice but for a kill between its sending and its noting. With `--retry real` the service's
schedule goes 60 times as fast, and after the end up to 13 minutes more are waited for its last steps.
"""

import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import count, pairwise
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.command import parser
from support.kills.killable import end, spawn
from support.listening import (
    OK,
    OUTCOME,
    Received,
    TargetServer,
    delivery,
    event,
    status,
    status_line,
    talk,
)
from svc.clock import SystemClock
from svc.state import Database

NOTED_SECONDS = 1.0  # in which an answer is on the disk, on a machine that is busy
WRITTEN_SECONDS = 0.05  # between the kill and the look at the clock
HANGS = 0
PACE_SECONDS = 0.02
SETTLE_SECONDS = {"fast": 60.0, "real": 800.0}  # two more steps of six minutes


@dataclass
class SoakAnswer:
    """What the target said to one attempt; `heard` is false where it could not be written."""

    at: float
    code: int
    heard: bool = True


@dataclass
class PowerCut:
    """A power cut, and the events that the inbox did not know as taken right after it."""

    at: float
    untaken: set[str]


@dataclass
class Soak:
    """What one run has seen."""

    seed: int
    retry: str
    acknowledged: set[str] = field(default_factory=set)
    answers: dict[str, list[SoakAnswer]] = field(default_factory=dict)
    kills: list[PowerCut] = field(default_factory=list)
    stops: int = 0
    outages: int = 0

    def reply(self, request: Received) -> bytes | None:
        """Takes most; at first one in twenty is refused and one in five hundred hangs."""
        name = json.loads(request.body)["id"]
        before = self.answers.setdefault(name, [])
        fate = 1.0 if before else random.Random(f"{self.seed}{name}").random()
        code = HANGS if fate < 0.002 else 503 if fate < 0.052 else 200
        before.append(SoakAnswer(time.monotonic(), code))
        return None if code == HANGS else OK if code == 200 else status_line(code)

    def unheard(self, request: Received) -> None:
        """Notes that the target was gone before it could write its last answer."""
        self.answers[json.loads(request.body)["id"]][-1].heard = False

    def doubles(self) -> dict[str, bool]:
        """The events that were taken twice, and whether each time it was at a kill.

        It was where the kill came before the first taking could be noted: the inbox did not know
        of it afterwards, and no longer than `NOTED_SECONDS` had gone by.
        """
        found: dict[str, bool] = {}
        for name, answers in self.answers.items():
            taken = [one.at for one in answers if one.code == 200 and one.heard]
            for before, after in pairwise(taken):
                found[name] = found.get(name, True) and self._at_kill(name, before, after)
        return found

    def _at_kill(self, name: str, before: float, after: float) -> bool:
        return any(
            before - WRITTEN_SECONDS <= kill.at <= min(after, before + NOTED_SECONDS)
            and name in kill.untaken
            for kill in self.kills
        )


class SoakStage:
    """The listener, its target and the sender of one run; the first two are ended again and again."""

    def __init__(self, folder: Path, retry: str, seed: int) -> None:
        self.run = Soak(seed, retry)
        self.state = folder / "state" / "state.db"
        self._retry = retry
        self._stop = threading.Event()
        self._target = TargetServer(self.run.reply, self.run.unheard)
        self._target.__enter__()
        self._start()
        self._sender = threading.Thread(target=self._send)
        self._sender.start()

    def kill(self) -> None:
        """Ends the listener as a power cut would, and starts it again."""
        self._process.kill()
        at = time.monotonic()
        end(self._process)
        self.run.kills.append(PowerCut(at, untaken(self.state)))
        self._start()

    def stop(self) -> None:
        """Ends it as a signal does, and starts it again."""
        self.run.stops += 1
        self._process.terminate()
        self._process.wait(10)
        end(self._process)
        self._start()

    def flap(self, seconds: float) -> None:
        """Has the target be away for so long."""
        self.run.outages += 1
        port = self._target.port
        self._target.__exit__()
        time.sleep(seconds)
        self._target = TargetServer(self.run.reply, self.run.unheard, port=port)
        self._target.__enter__()

    def close(self) -> None:
        """Waits until everything has ended, then ends all."""
        self._stop.set()
        self._sender.join()
        last = time.monotonic() + SETTLE_SECONDS[self._retry]
        while outcomes(self.state)["None"] and time.monotonic() < last:
            time.sleep(0.5)
        self._process.terminate()
        self._process.wait(10)
        end(self._process)
        self._target.__exit__()

    def _start(self) -> None:
        self._process, self._port = spawn(self.state, self._target.port, self._retry)

    def _send(self) -> None:
        for number in count(1):
            if self._stop.wait(PACE_SECONDS):
                return
            while not self._delivered(number):
                time.sleep(0.02)
            self.run.acknowledged.add(f"evt_{number}")

    def _delivered(self, number: int) -> bool:
        data = delivery(event(number), now=int(time.time()))
        try:
            return status(talk(self._port, data)) == 200
        except OSError:
            return False


def soak(seconds: float, folder: Path, retry: str, seed: int = 1) -> tuple[Soak, Counter[str]]:
    """Runs one listener for so long, however often it is ended; gives how its events ended."""
    stage, drawn = SoakStage(folder, retry, seed), random.Random(seed)
    until = time.monotonic() + seconds
    try:
        while time.monotonic() < until:
            time.sleep(drawn.uniform(0.5, 3))
            act = drawn.choice((stage.kill, stage.stop, lambda: stage.flap(drawn.uniform(0.1, 2))))
            act()
    finally:
        stage.close()
    return stage.run, outcomes(stage.state)


def outcomes(state: Path) -> Counter[str]:
    with Database.open(state, clock=SystemClock()) as opened:
        ended = opened.rows(f"SELECT {OUTCOME} FROM inbox")
        return Counter(str(row["outcome"]) for row in ended)


def untaken(state: Path) -> set[str]:
    """The events of which the inbox does not know that the target has taken them."""
    with Database.open(state, clock=SystemClock()) as opened:
        return {row["event_id"] for row in opened.rows(UNTAKEN)}


UNTAKEN = """
SELECT event_id FROM inbox WHERE NOT EXISTS (
  SELECT 1 FROM targets JOIN ledger ON target = id AND event = seq WHERE state = 4)"""


def verdict(run: Soak, ended: Counter[str]) -> list[str]:
    """What broke the listener's word; only `fast` may give up what was refused, or not answered."""
    taken = {name for name, all_ in run.answers.items() if any(one.code == 200 for one in all_)}
    refused = {name for name, all_ in run.answers.items() if all_[-1].code != 200}
    excused = refused if run.retry == "fast" else set()
    wrong = [f"{name} is lost" for name in sorted(run.acknowledged - taken - excused)]
    wrong += [f"{name} twice without a kill" for name, kill in run.doubles().items() if not kill]
    if ended["failed"] > len(excused):
        wrong.append(f"{ended['failed']} failed, and {len(excused)} had a reason")
    return wrong + ([f"{ended['None']} are still open"] if ended["None"] else [])


def main() -> int:
    command = parser(__doc__)
    command.add_argument("--seconds", type=float, default=1200)
    command.add_argument("--retry", choices=("fast", "real"), default="real")
    command.add_argument("--seed", type=int, default=1)
    given = command.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run, ended = soak(given.seconds, Path(folder), given.retry, given.seed)
    wrong = verdict(run, ended)
    print(
        f"{len(run.acknowledged)} acknowledged, {dict(ended)}, {len(run.kills)} kills,"
        f" {run.stops} stops, {run.outages} outages, {len(run.doubles())} twice, all at a kill:"
        f" {all(run.doubles().values())}"
    )
    print("\n".join(wrong[:50]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
