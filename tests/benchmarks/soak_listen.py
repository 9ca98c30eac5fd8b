"""A listener for a long time: kills, stops and flapping targets, real processes.

`python soak_listen.py --seconds 1200` prints what happened and ends with 1 if anything was lost, or
came twice without a kill.
"""

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))

from support.killable import end, spawn
from support.listening import OK, Received, Target, delivery, event, status, status_line, talk
from svc.clock import SystemClock
from svc.journal import State

NOTED_SECONDS = 1.0  # in which an answer is on the disk, on a machine that is busy
PACE_SECONDS = 0.02
SETTLE_SECONDS = 60.0


@dataclass
class Soak:
    """What one run has seen."""

    seed: int
    acknowledged: set[str] = field(default_factory=set)
    answers: dict[str, list[tuple[float, int]]] = field(default_factory=dict)
    killed: list[float] = field(default_factory=list)
    stops: int = 0
    outages: int = 0

    def reply(self, request: Received) -> bytes | None:
        """Takes most; one in twenty is refused at first, one in fifty hangs at first."""
        name = json.loads(request.body)["id"]
        before = self.answers.setdefault(name, [])
        fate = random.Random(f"{self.seed}{name}").random()
        code = 503 if not before and fate < 0.05 else 200
        before.append((time.monotonic(), code))
        return OK if code == 200 else status_line(code)

    def doubles(self) -> dict[str, bool]:
        """The events that were taken twice, and whether there was a kill in between."""
        found = {}
        for name, answers in self.answers.items():
            taken = [at for at, code in answers if code == 200]
            if len(taken) > 1:
                found[name] = any(taken[0] - 0.1 <= at <= taken[-1] for at in self.killed)
        return found


class Stage:
    """The listener, its target and the sender of one run; the first two are ended again and again."""

    def __init__(self, folder: Path, retry: str, seed: int) -> None:
        self.run = Soak(seed)
        self.state = folder / "state" / "state.db"
        self._retry = retry
        self._stop = threading.Event()
        self._target = Target(self.run.reply)
        self._target.__enter__()
        self._start()
        self._sender = threading.Thread(target=self._send)
        self._sender.start()

    def kill(self) -> None:
        """Ends the listener as a power cut would, and starts it again."""
        self._process.kill()
        self.run.killed.append(time.monotonic())
        end(self._process)
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
        self._target = Target(self.run.reply, port=port)
        self._target.__enter__()

    def close(self) -> None:
        """Waits until everything has ended, then ends all."""
        self._stop.set()
        self._sender.join()
        last = time.monotonic() + SETTLE_SECONDS + (70 if self._retry == "real" else 0)
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
    stage, drawn = Stage(folder, retry, seed), random.Random(seed)
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
    with State.open(state, clock=SystemClock()) as opened:
        return Counter(str(row["outcome"]) for row in opened.rows("SELECT outcome FROM inbox"))


def verdict(run: Soak, ended: Counter[str]) -> list[str]:
    """What broke the listener's word."""
    taken = {name for name, all_ in run.answers.items() if any(code == 200 for _, code in all_)}
    refused = {name for name, all_ in run.answers.items() if all_[-1][1] != 200}
    wrong = [f"{name} is lost" for name in run.acknowledged - taken - refused]
    wrong += [f"{name} twice without a kill" for name, kill in run.doubles().items() if not kill]
    return wrong + ([f"{ended['None']} are still open"] if ended["None"] else [])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1200)
    parser.add_argument("--retry", choices=("fast", "real"), default="real")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run, ended = soak(given.seconds, Path(folder), given.retry, given.seed)
    wrong = verdict(run, ended)
    print(
        f"{len(run.acknowledged)} acknowledged, {dict(ended)}, {len(run.killed)} kills,"
        f" {run.stops} stops, {run.outages} outages, {len(run.doubles())} twice, all at a kill:"
        f" {all(run.doubles().values())}"
    )
    print("\n".join(wrong[:50]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
