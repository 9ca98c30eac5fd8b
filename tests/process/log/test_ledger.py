"""A team's log in operation and under attack, on three servers with TLS, in one run with one ledger.

The service sends without a pause while one thing after the other goes wrong and strangers try what
they can. `pytest -m slow -s` prints the ledger. A plain slow run plays a part of the scenarios; with
SVC_TEST_LONG=1 all of them.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from process.log.attacks import ATTACKS, TRIED
from process.log.day import Day, cluster_with_tls
from process.log.operations import (
    LATER,
    QUICK,
    the_leader_of_the_events_is_killed,
    the_log_is_lost_and_filled_again,
)
from support.running import Svc

pytestmark = pytest.mark.usefixtures("needed")
LONG = os.environ.get("SVC_TEST_LONG") == "1"


def test_there_are_as_many_scenarios_as_were_promised() -> None:
    assert len(QUICK) + len(LATER) >= 45
    assert sum(TRIED[one] for one in ATTACKS) >= 28


def attempted(attack: Callable[[Day], list[str]], day: Day) -> list[str]:
    """Tries an attack; again where what it goes to was killed meanwhile by an operation."""
    for _ in range(10):
        try:
            return attack(day)
        except ConnectionError:
            time.sleep(1)  # servers of their own: no clock of ours moves them
    return attack(day)


def attacked(day: Day, let_in: list[str], wrong: list[BaseException]) -> None:
    for attack in ATTACKS:
        started = time.monotonic()
        try:
            let_in += attempted(attack, day)
        except BaseException as error:  # noqa: BLE001  it is raised where the thread is joined
            wrong.append(error)
            return
        row = ("attack", f"{attack.__name__} ({TRIED[attack]})", time.monotonic() - started)
        day.ledger.rows.append(row)


def judge(day: Day, let_in: Sequence[str]) -> None:
    """Counts what is where, and prints it."""
    day.rest()
    lost, (twice, unmarked) = day.lost(), day.doubles()
    owed = day.ledger.acknowledged
    again = {f"{one} ci" for one in day.retried}
    held = [one for one in day.held() if one.rpartition(" ")[0] not in again]
    strange = sorted(set(held) - owed - day.forged)
    day.ledger.print()
    print(f"{len(owed)} acknowledged, {day.ledger.sent_away} times sent away; lost {lost}, "
          f"{twice} doubled, {unmarked} unmarked, {len(let_in)} let in")  # fmt: skip
    assert lost == dict.fromkeys(day.targets, 0)
    assert unmarked == 0
    assert (list(let_in), strange) == ([], [])
    assert sorted(held) == sorted({*owed, *(set(held) & day.forged)})


def played(day: Day) -> None:
    """Plays the day, strangers beside it for as long as no server dies, and judges it."""
    scenarios: tuple[Callable[[Day], None], ...] = (*QUICK, *(LATER[:-1] if LONG else ()))
    let_in: list[str] = []
    wrong: list[BaseException] = []
    day.begin()
    stranger = threading.Thread(target=attacked, args=(day, let_in, wrong))
    stranger.start()
    for number, scenario in enumerate(scenarios):
        if number == QUICK.index(the_leader_of_the_events_is_killed):
            stranger.join()
        day.play("operation", scenario)
    if LONG:
        judge(day, let_in)
        day.begin_again()
        day.play("operation", the_log_is_lost_and_filled_again)
    assert wrong == []
    judge(day, let_in)


@pytest.mark.slow(seconds=60)
@pytest.mark.limit(1800 if LONG else 400)
def test_operation_and_attack_of_a_team(svc: Svc, tmp_path: Path) -> None:
    """R50, R124, R127-R130: 0 lost, 0 unmarked, 0 let in."""
    with cluster_with_tls(svc, tmp_path) as (running, users, authority):
        day = Day(running, users, authority, svc, tmp_path)
        try:
            played(day)
        except BaseException:
            day.ledger.print()
            for one in day.members:
                print(one.folder.name, one.errors[-1500:])
            raise
        finally:
            day.end()
