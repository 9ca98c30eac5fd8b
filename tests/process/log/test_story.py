"""A team's whole day as one session, with its figures: `pytest -m slow -s` prints them.

Three servers from `svc events log template`, one receiver, two laptops and a group of two jobs; a
server is killed and wiped while a laptop sleeps, members are killed. STORY_EVENTS says how many
events the laptop sleeps through, 2,500 if nothing is said.
"""

import json
import os
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from support.listening import Received, TargetServer
from support.running import Result, Svc
from support.team.commands import cluster_of
from support.team.log import KEY, wait_for
from support.team.members import EventSender, Member
from support.team.servers import LogNode, Servers, free_ports
from svc.errors import ExitCode

pytestmark = pytest.mark.usefixtures("needed")
SLEPT = int(os.environ.get("STORY_EVENTS", "2500"))
AWAKE = SLEPT // 20
SENDERS = 28
# How a reader ends while the log has no leader, or the account was wiped under it.
GONE = (ExitCode.UNAVAILABLE, ExitCode.NOT_FOUND)


def say(*words: object) -> None:
    print(*words, flush=True)


class StoryTeam:
    """Everybody, each a process with credentials and a home of its own."""

    def __init__(
        self,
        running: Servers,
        users: dict[str, str],
        svc: Svc,
        folder: Path,
        targets: dict[str, TargetServer],
    ) -> None:
        self.running = running
        self.users = users
        self._svc = svc
        self.targets = targets
        monitor = [word for one in self.monitors for word in ("--log-monitor", one)]
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

    @property
    def monitors(self) -> list[str]:
        return [f"http://127.0.0.1:{node.monitor}" for node in self.running.nodes]

    def _member(self, folder: Path, user: str, argv: tuple[str, ...], place: str = "") -> Member:
        return Member(folder / (place or user), argv, credentials=self.users[user])

    def svc(self, user: str, *argv: str) -> Result:
        env = {
            "SVC_LOG_CREDENTIALS": f"{self.users[user]}\n{KEY}",
            "SVC_BASE_URL": "https://api.example.com",
        }
        return self._svc(*argv, env={**env, "SVC_API_KEY": "sk_test_of_no_use_1"})

    def run(self, *argv: str) -> dict[str, object]:
        done = self.svc("admin", "events", "log", *argv)
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
            if code in GONE:
                say(f"  {one.folder.name} begins again: {one.errors[-300:]}")
                one.start()
            assert code in (None, *GONE, ExitCode.TERMINATED), one.errors


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
def test_a_teams_day(tmp_path: Path, svc: Svc) -> None:
    """R50: nothing is lost, what comes twice says so, and a laptop that slept has all of it."""
    targets = {name: TargetServer() for name in ("anna", "ben", "ci")}
    with (
        targets["anna"],
        targets["ben"],
        targets["ci"],
        cluster_of(svc, tmp_path) as (running, users),
    ):
        team = StoryTeam(running, users, svc, tmp_path, targets)
        wait_for(lambda: meta_leader(running), 40)
        made = team.run("create", "--to", running.url(), "--group", "ci", "--max-bytes", "512MiB")
        say("created:", json.dumps(made["streams"]))
        try:
            play(team)
            below_a_majority(team, tmp_path)
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


def routes(node: LogNode) -> set[str]:
    found = node.monitored("routez").get("routes") or []
    return {str(one.get("remote_name")) for one in found}


def stranger_to(node: LogNode, folder: Path) -> LogNode:
    """A server that asks to join the cluster of another one, without its password."""
    listens = node.config.partition("cluster {")[2].partition('listen: "')[2].partition('"')[0]
    port, monitor, own = free_ports(3)
    text = f"""server_name: stranger
listen: "127.0.0.1:{port}"
http: "127.0.0.1:{monitor}"
cluster {{ name: shop, listen: "127.0.0.1:{own}", routes: ["nats://{listens}"] }}
"""
    return LogNode(folder, "stranger", port, monitor, text).start()


def below_a_majority(team: StoryTeam, folder: Path) -> None:
    """A server without the cluster's password joins nothing; with two of three away that is said."""
    first, log = team.running.nodes[0], ("--from", team.running.url())
    stranger = stranger_to(first, folder / "stranger")
    try:
        wait_for(lambda: "uthentication" in (first.folder / "out").read_text())
        assert routes(stranger) == set()
        assert routes(first) == {"shop-2", "shop-3"}
    finally:
        stranger.kill()
    assert team.svc("anna", "events", "listen", *log, "--timeout", "0").code == 0
    monitors = [word for one in team.monitors for word in ("--log-monitor", one)]
    assert "on 1 of 3 servers" in team.svc("anna", "doctor", *monitors[:2], "-o", "json").out
    assert "always on" not in team.svc("anna", "doctor", *monitors, "-o", "json").out
    for member in team.everybody:
        member.kill()
    for node in team.running.nodes[1:]:
        node.kill()
    status = ("events", "log", "status", *log)

    def is_told() -> bool:  # the last leader says for some seconds that all is well
        done = team.svc("anna", *status)
        return done.code == 11 and "nothing is taken" in done.error["message"]

    wait_for(is_told, 60)
    wait_for(lambda: is_told() and is_told(), 60)
    doctor = team.svc("anna", "doctor", "-o", "json")
    [found] = [one for one in json.loads(doctor.out) if one["name"] == "log"]
    assert (doctor.code, found["status"]) == (11, "failed")
    assert "nothing is taken" in found["detail"]
