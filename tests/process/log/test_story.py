"""A team's whole day as one session, with its figures: `pytest -m slow -s` prints them.

Three servers from `svc events log template`, one receiver, two laptops and a group of two jobs; a
server is killed and wiped while a laptop sleeps, members are killed. STORY_EVENTS says how many
events the laptop sleeps through, 2,500 if nothing is said.
"""

import json
import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from support.listening import Received, TargetServer
from support.running import Svc
from support.team.log import wait_for
from support.team.members import EventSender, Member
from support.team.servers import LogNode, Servers, free_ports
from svc.errors import ExitCode

pytestmark = pytest.mark.usefixtures("needed")
SLEPT = int(os.environ.get("STORY_EVENTS", "2500"))
AWAKE = SLEPT // 20
SENDERS = 28
WORDS = {
    "admin": "pwadmin",
    "receiver": "pwreceiver",
    "anna": "pwanna",
    "ben": "pwben",
    "ci": "pwci",
}


def say(*words: object) -> None:
    print(*words, flush=True)


@contextmanager
def three_servers(svc: Svc, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Servers]:
    """The servers of the trial template, at ports that are free."""
    for user, word in WORDS.items():
        monkeypatch.setenv(f"LOG_{user.upper()}_PASSWORD", word)
    monkeypatch.setenv("LOG_KEY", "akeyofnoimportance")
    ports = dict(
        zip((4222, 4223, 4224, 6222, 6223, 6224, 8222, 8223, 8224), free_ports(9), strict=True)
    )
    nodes = []
    for number in (1, 2, 3):
        argv = ("events", "log", "template", "--name", "shop", "--trial", "--node", str(number))
        text = svc(*argv, "--laptop", "anna", "--laptop", "ben").out
        text = re.sub(r"127\.0\.0\.1:(\d{4})\b", lambda at: f"127.0.0.1:{ports[int(at[1])]}", text)
        place = folder / f"n{number}"
        text = text.replace(f'"./shop-{number}"', f'"{place}/data"')
        nodes.append(
            LogNode(place, f"shop-{number}", ports[4221 + number], ports[8221 + number], text)
        )
    running = Servers(nodes)
    try:
        for node in nodes:
            node.start()
        yield running
    finally:
        running.close()


class StoryTeam:
    """Everybody, each a process with credentials and a home of its own."""

    def __init__(
        self, running: Servers, svc: Svc, folder: Path, targets: dict[str, TargetServer]
    ) -> None:
        self.running = running
        self._svc = svc
        self.targets = targets
        monitor = ("--log-monitor", running.monitor)
        reading = (
            "events",
            "listen",
            "--from",
            running.url(),
            "--from-start",
            "all",
            "--print",
            "none",
        )
        receive = ("events", "receive", "--to", running.url(), "--tunnel", "none", *monitor)
        self.receiver = self._member(folder, "receiver", (*receive, "--print", "none"))
        self.anna, self.ben = (
            self._member(folder, name, (*reading, "--forward-to", str(targets[name].port)))
            for name in ("anna", "ben")
        )
        share = (*reading, "--group", "ci", "--forward-to", str(targets["ci"].port))
        self.jobs = [self._member(folder, "ci", share, f"job-{n}") for n in (1, 2)]
        self.everybody = [self.receiver, self.anna, self.ben, *self.jobs]

    @staticmethod
    def _member(folder: Path, user: str, argv: tuple[str, ...], place: str = "") -> Member:
        return Member(folder / (place or user), argv, credentials=f"{user}:{WORDS[user]}")

    def run(self, *argv: str) -> dict[str, object]:
        env = {
            "SVC_LOG_CREDENTIALS": f"admin:{WORDS['admin']}",
            "SVC_BASE_URL": "https://api.example.com",
        }
        done = self._svc("events", "log", *argv, env={**env, "SVC_API_KEY": "sk_test_of_no_use_1"})
        assert done.code == 0, done.err
        found = json.loads(done.out)
        assert isinstance(found, dict)
        return found

    def current(self) -> bool:
        return self.status()["replicas_current"] == 3

    def status(self) -> dict[str, object]:
        return self.run("status", "--from", self.running.url())

    def wait_until_had(self, count: int, *names: str, seconds: float) -> None:
        """Waits until each of them has so many events; what is missing is said of whoever has not."""
        wanted = {f"evt_{number}" for number in range(count)}

        def had() -> bool:
            self._begin_again()
            return all(wanted <= set(self.targets[name].ids) for name in names)

        try:
            wait_for(had, seconds)
        except AssertionError:
            for one in self.everybody:
                say(one.folder.name, one.errors[-2000:])
            for name in names:
                missing = sorted(wanted - set(self.targets[name].ids))
                say(f"{name}: {len(missing)} of {count} missing, such as {missing[:5]}")
            say("log:", json.dumps(self.status()))
            raise

    def _begin_again(self) -> None:
        """Whoever began when the log had no leader has ended and said so: he is started again."""
        for one in self.everybody:
            code = None if one.process is None else one.process.poll()
            if code == ExitCode.UNAVAILABLE:
                say(f"  {one.folder.name} begins again: {one.errors[-300:]}")
                one.start()
            assert code in (None, ExitCode.UNAVAILABLE, ExitCode.TERMINATED), one.errors


def sent(team: StoryTeam, first: int, count: int) -> int:
    """Sends so many events over many connections; gives how often a sender was sent away."""
    senders = [
        EventSender(lambda: team.receiver.door, first + count, number) for number in range(SENDERS)
    ]
    threads = [
        threading.Thread(target=one.run, args=(first + number, SENDERS))
        for number, one in enumerate(senders)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(len(one.acknowledged) for one in senders) == count
    return sum(one.refused for one in senders)


def doubles(received: list[Received]) -> tuple[int, int]:
    """How many came a second time, and how many of those did not say so."""
    seen: set[bytes] = set()
    twice = unmarked = 0
    for one in received:
        again = one.body in seen
        twice += again
        unmarked += again and not one.header("svc-redelivered")
        seen.add(one.body)
    return twice, unmarked


def while_ben_sleeps(team: StoryTeam) -> None:
    """A server dies and comes back empty; a laptop and a job are killed and started again."""
    time.sleep(SLEPT / 5_000)
    node = team.running.nodes[1]
    node.wipe()
    say(f"  {node.name} killed and wiped while {SLEPT:,} events come")
    time.sleep(2)
    node.start()
    for member in (team.anna, team.jobs[0]):
        member.kill()
        member.start()


@pytest.mark.slow(seconds=40)
@pytest.mark.limit(900)
def test_a_teams_day(tmp_path: Path, svc: Svc, monkeypatch: pytest.MonkeyPatch) -> None:
    """R50: nothing is lost, what comes twice says so, and a laptop that slept has all of it."""
    targets = {name: TargetServer() for name in ("anna", "ben", "ci")}
    with (
        targets["anna"],
        targets["ben"],
        targets["ci"],
        three_servers(svc, tmp_path, monkeypatch) as running,
    ):
        team = StoryTeam(running, svc, tmp_path, targets)
        wait_for(lambda: meta_leader(running), 40)
        made = team.run("create", "--to", running.url(), "--group", "ci", "--max-bytes", "512MiB")
        say("created:", json.dumps(made["streams"]))
        try:
            play(team)
        finally:
            for one in team.everybody:
                one.kill()


def play(team: StoryTeam) -> None:
    for one in team.everybody:
        one.start()
    wait_for(lambda: all(one.ready for one in team.everybody), 60)
    started = time.monotonic()
    refused = sent(team, 0, AWAKE)
    team.wait_until_had(AWAKE, "anna", "ben", "ci", seconds=60)
    say(f"{AWAKE:,} events to all three in {time.monotonic() - started:.1f} s")
    assert team.ben.end() == 143
    trouble = threading.Thread(target=while_ben_sleeps, args=(team,))
    trouble.start()
    started = time.monotonic()
    refused += sent(team, AWAKE, SLEPT)
    trouble.join()
    total = AWAKE + SLEPT
    say(f"{SLEPT:,} answered in {time.monotonic() - started:.1f} s; sent away {refused} times")
    team.wait_until_had(total, "anna", "ci", seconds=240)
    assert not set(team.targets["ben"].ids) & {f"evt_{number}" for number in range(AWAKE, total)}
    started = time.monotonic()
    team.ben.start()
    team.wait_until_had(total, "ben", seconds=240)
    say(f"the laptop that slept has {SLEPT:,} events after {time.monotonic() - started:.1f} s")
    wait_for(team.current, 120)
    judge(team, total)


def judge(team: StoryTeam, total: int) -> None:
    """Counts what is where."""
    status = team.status()
    wanted = {f"evt_{number}" for number in range(total)}
    say(f"log: {status['events']:,} events, {status['replicas_current']} of 3 copies, "
        f"{status['failed']} failed, {status['redelivered']} under redelivery")  # fmt: skip
    for name, target in team.targets.items():
        twice, unmarked = doubles(target.received)
        lost = len(wanted - set(target.ids))
        say(
            f"{name:5} {len(target.received):,} requests: {lost} lost, {twice} doubled, {unmarked} unmarked"
        )
        assert (lost, unmarked) == (0, 0)
    assert (status["events"], status["failed"]) == (total, 0)


def meta_leader(running: Servers) -> bool:
    """Whether one of the three leads and has both others with it: it has no place for copies before."""
    for node in running.nodes:
        with suppress(OSError, ValueError):
            others = node.monitored("jsz?meta=1").get("meta_cluster", {}).get("replicas", [])
            if sum(one["current"] for one in others) == 2:
                return True
    return False
