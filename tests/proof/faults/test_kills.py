"""Kill -9 at every point of a POST, for every operation: no request is lost, none is doubled (R3).

A plain run kills 12 times; a slow one 216 times at chosen points and 40 times at random moments,
with SVC_TEST_LONG=1 1,008 and 200 times.
"""

import os
import random
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from proof.faults.bench import UserMachine
from proof.faults.driver import POINTS
from proof.faults.ledger import Fault, Ledger
from proof.faults.operations import OPERATIONS, command
from proof.faults.test_fault_matrix import closed, cut, reset
from support.forks.program import Forking
from support.suite.patience import slowed, until

LONG = os.environ.get("SVC_TEST_LONG") == "1"
SEEDS = 14 if LONG else 1
RANDOM_KILLS = 200 if LONG else 40
WORKERS = 3


class Kill(NamedTuple):
    """One death: what it was doing, where it died, and what went wrong before that."""

    number: int
    operation: str
    point: str
    seed: int

    @property
    def mark(self) -> str:
        return f"mark-{self.number}"

    @property
    def faults(self) -> list[Fault]:
        """What the attempts before the last one meet; seed 0 meets nothing."""
        chance = random.Random(f"{self.operation} {self.point} {self.seed}")
        kinds = (Fault(reset), Fault(closed, True), Fault(cut, True))
        return [chance.choice(kinds) for _ in range(self.seed % 3)]

    @property
    def nth(self) -> int:
        """Which attempt is the last; an intent is recorded and settled once whatever happens."""
        return 1 if self.point.endswith(("intent", "outcome")) else len(self.faults) + 1


def kills(seeds: int) -> list[Kill]:
    cases = [
        (operation, point, seed)
        for seed in range(seeds)
        for operation in OPERATIONS
        for point in POINTS
    ]
    return [Kill(number, *case) for number, case in enumerate(cases, 1)]


def machine_for(folder: Path, ledger: Ledger, forking: Forking, number: int) -> UserMachine:
    home = folder / f"home-{number}"
    home.mkdir(mode=0o700)
    return UserMachine(home, ledger, forking)


def check_kill(folder: Path, ledger: Ledger, forking: Forking, kill: Kill) -> None:
    """Kills, looks, resumes, looks again."""
    machine = machine_for(folder, ledger, forking, kill.number)
    ledger.spoil(*kill.faults, mark=kill.mark)
    argv = command(kill.operation, kill.mark)
    killed = machine.run(*argv, kill=kill.point, nth=kill.nth)
    assert killed.code == -signal.SIGKILL, (kill, killed)
    if kill.point == "before_intent":
        assert (machine.rows(), ledger.sent(kill.mark)) == ([], [])
        assert machine.run(*argv).code == 0
    else:
        assert_resumable(machine, kill)
    assert ledger.effects[kill.mark] == 1, kill
    assert [row["state"] for row in machine.rows()] == ["done"], kill
    assert len({post.key for post in ledger.sent(kill.mark)}) == 1, kill


def assert_resumable(machine: UserMachine, kill: Kill) -> None:
    if kill.point in ("after_intent", "after_connect") and not kill.faults:
        assert machine.ledger.sent(kill.mark) == []
    # Each process counts: that they are listed is seen in a third of the cases.
    listed = machine.unresolved() if kill.seed == 0 else open_rows(machine)
    assert len(listed) == 1, kill
    resumed = machine.run("requests", "resume", listed[0])
    assert resumed.code == 0, (kill, resumed.err)


def open_rows(machine: UserMachine) -> list[str]:
    return [row["id"] for row in machine.rows() if row["state"] in ("open", "unknown")]


def late(sock: socket.socket, reply: bytes) -> bool:
    """Answers rightly, but not at once, so that more deaths come before the answer."""
    time.sleep(0.02)
    sock.sendall(reply)
    return True


def wait_for(state: Path) -> None:
    """Waits until a program has come to its journal."""
    until(state.exists)


def check_random_kill(folder: Path, ledger: Ledger, forking: Forking, number: int) -> bool:
    """Kills from outside, wherever the program is in the milliseconds around its request."""
    chance = random.Random(number)
    operation, mark = chance.choice(list(OPERATIONS)), f"mark-{100_000 + number}"
    machine = machine_for(folder, ledger, forking, 100_000 + number)
    ledger.spoil(Fault(late, carried_out=True), mark=mark)
    process = machine.start(*command(operation, mark), random="kill")
    with process:
        wait_for(machine.state)
        time.sleep(chance.uniform(0, slowed(0.05)))
        process.kill()
        machine.ended(process)
    states = [row["state"] for row in machine.rows()]
    assert len(states) <= 1
    assert states or not ledger.sent(mark), "sent without an intent"
    if states == ["open"]:
        assert machine.run("requests", "resume", *open_rows(machine)).code == 0
    assert ledger.effects[mark] == len(states)
    return states == ["open"]


def test_kill_loses_and_doubles_nothing(tmp_path: Path, ledger: Ledger, forking: Forking) -> None:
    """R3: listed, resumed with the same key, exactly one effect; each point twice."""
    names = list(OPERATIONS)
    cases = [(point, seed) for seed in (0, 2) for point in POINTS]
    chosen = [Kill(n, names[n * 5 % len(names)], *case) for n, case in enumerate(cases, 1)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(partial(check_kill, tmp_path, ledger, forking), chosen))
    assert len(ledger.effects) == len(chosen) == 12


@pytest.mark.slow(seconds=35)
def test_hundreds_of_kills_lose_and_double_nothing(
    tmp_path: Path, ledger: Ledger, forking: Forking
) -> None:
    """R3: every operation, every point, several seeds."""
    chosen = kills(SEEDS)
    assert len(chosen) >= (1000 if LONG else 60)
    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(partial(check_kill, tmp_path, ledger, forking), chosen))
    assert set(ledger.effects.values()) == {1}
    assert len(ledger.effects) == len(chosen)


@pytest.mark.slow(seconds=15)
def test_kills_at_random_moments_lose_and_double_nothing(
    tmp_path: Path, ledger: Ledger, forking: Forking
) -> None:
    """R3: also in the middle of a write."""
    with ThreadPoolExecutor(WORKERS) as pool:
        check = partial(check_random_kill, tmp_path, ledger, forking)
        left_open = list(pool.map(check, range(RANDOM_KILLS)))
    assert set(ledger.effects.values()) <= {1}
    assert any(left_open)  # else the moments were badly chosen
