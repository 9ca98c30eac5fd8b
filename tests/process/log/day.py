"""A team's day on three servers with TLS: its members as processes, a service that never stops sending."""

import json
import os
import re
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from support.listening import OK, Received, TargetServer, status_line
from support.running import Result, Svc
from support.servers.certificates import Authority
from support.serving import free_ports
from support.team.commands import users_file
from support.team.log import KEY, ORIGIN, wait_for
from support.team.members import EventSender, Member, act_as
from support.team.servers import LogNode, Servers
from svc.client.wire.tls import context
from svc.listen.log.address import LogAddress
from svc.listen.log.connection import LogConnection
from svc.listen.log.credentials import Credentials

STREAM: Final = "SVC_shop_test"
SENDERS: Final = 2
PAUSE_SECONDS: Final = 0.05
_TEMPLATE: Final = ("events", "log", "template", "--name", "shop")


class DayServers(Servers):
    """Servers that are named as their certificates are."""

    @property
    def hosts(self) -> str:
        return ",".join(f"localhost:{node.port}" for node in self.nodes)


@contextmanager
def cluster_with_tls(
    svc: Svc, folder: Path
) -> Iterator[tuple[DayServers, dict[str, str], Authority]]:
    """Three servers as the template writes them, with certificates for clients and for themselves."""
    authority, ports = Authority(folder), free_ports(9)
    authority.issue("localhost")
    users = users_file(svc, folder / "users.conf")
    nodes = [_node(svc, folder, authority, number, ports[number - 1 :: 3]) for number in (1, 2, 3)]
    running = DayServers(nodes, "nats+tls")
    with pytest.MonkeyPatch.context() as patch:
        for line in svc(*_TEMPLATE, "--environment").out.splitlines():
            name, _, value = line.partition("=")
            for number in (1, 2, 3):
                route = f"localhost:{ports[5 + number]}"
                value = value.replace(f"log{number}.example.com:6222", route)
            patch.setenv(name, value.strip("'"))
        try:
            for node in nodes:
                node.start()
            yield running, users, authority
        finally:
            running.close()


def _node(
    svc: Svc, folder: Path, authority: Authority, number: int, ports: Sequence[int]
) -> LogNode:
    """One server; its ports are for clients, for its monitor and for the others."""
    place, (client, monitor, route) = folder / f"n{number}", ports
    place.mkdir()
    (place / "users.conf").write_bytes((folder / "users.conf").read_bytes())
    for name in ("server", "server-key", "cluster", "cluster-key"):
        (place / f"{name}.pem").write_bytes((folder / "server.pem").read_bytes())
    (place / "cluster-ca.pem").write_bytes(authority.file.read_bytes())
    text = svc(*_TEMPLATE, "--node", str(number), "--max-file-store", "4GiB").out
    text = text.replace("0.0.0.0:4222", f"127.0.0.1:{client}")
    text = text.replace("127.0.0.1:8222", f"127.0.0.1:{monitor}")
    text = text.replace(f"log{number}.example.com:6222", f"127.0.0.1:{route}")
    text = re.sub(r'"([a-z-]+\.pem)"', rf'"{place}/\1"', text)
    text = text.replace(f'"./shop-{number}"', f'"{place}/data"')
    return LogNode(place, f"shop-{number}", client, monitor, text)


@dataclass
class DayTarget:
    """Somebody's program: `how` says what it does with everything, `refused` what it never takes."""

    how: int | None = 200
    refused: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.server = TargetServer(self._reply)

    def _reply(self, request: Received) -> bytes | None:
        if self.how is None:
            return b"close"  # and no answer
        if self.how != 200:
            return status_line(self.how)
        if json.loads(request.body)["id"] in self.refused:
            return status_line(422)
        return OK

    def be(self, how: int | None, seconds: float) -> None:
        """Answers so for a while; None closes each connection."""
        self.how = how
        time.sleep(seconds)
        self.how = 200


@dataclass
class DayLedger:
    """What was answered 200, what became of it, and what every scenario has cost."""

    acknowledged: set[str] = field(default_factory=set)
    sent_away: int = 0
    rows: list[tuple[str, str, float]] = field(default_factory=list)

    def print(self) -> None:
        for kind, name, seconds in self.rows:
            print(f"  {kind:9} {seconds:6.1f} s  {name.replace('_', ' ')}")


class Day:
    """Everybody, each a process with credentials and a home of its own."""

    def __init__(
        self,
        running: DayServers,
        users: dict[str, str],
        authority: Authority,
        svc: Svc,
        folder: Path,
    ) -> None:
        self.running, self.users, self.authority = running, users, authority
        self.svc, self.folder = svc, folder
        self.ledger = DayLedger()
        self.targets = {name: DayTarget() for name in ("anna", "ben", "ci")}
        for one in self.targets.values():
            one.server.__enter__()
        self.trust = ("--ca-bundle", str(authority.file))
        self.receiver = self.member("receiver", *self._receive)
        self.anna = self.laptop("anna")
        self.ben = self.laptop("ben", "--ordered")
        self.jobs = [self.job(f"job-{number}") for number in (1, 2)]
        self.retried: set[str] = set()  # were given to a group again by hand
        self.forged: set[str] = set()
        self._over = threading.Event()
        self._number = 0
        self._numbers = threading.Lock()

    @property
    def next_number(self) -> int:
        """The number of the event that the service sends next."""
        return self._number

    @property
    def context(self) -> ssl.SSLContext:
        return context(str(self.authority.file))

    @property
    def routes_password(self) -> str:
        return os.environ["LOG_CLUSTER_PASSWORD"]

    @property
    def url(self) -> str:
        return self.running.url()

    @property
    def members(self) -> list[Member]:
        return [self.receiver, self.anna, self.ben, *self.jobs]

    @property
    def _receive(self) -> tuple[str, ...]:
        monitor = [w for node in self.running.nodes
                   for w in ("--log-monitor", f"http://127.0.0.1:{node.monitor}")]  # fmt: skip
        return ("events", "receive", "--to", self.url, "--tunnel", "none", *monitor)

    def member(self, user: str, *argv: str, place: str = "") -> Member:
        folder = self.folder / (place or user)
        argv = (*argv, "--print", "none", *self.trust)
        return Member(folder, argv, credentials=self.users[user])

    def laptop(self, user: str, *more: str, url: str = "", place: str = "") -> Member:
        argv = ("events", "listen", "--from", url or self.url, "--from-start", "all", *more)
        port = self.targets[user].server.port if user in self.targets else 0
        to = ("--forward-to", str(port)) if port else ()
        return self.member(user, *argv, *to, place=place)

    def job(self, place: str, port: int | None = None) -> Member:
        argv = ("events", "listen", "--from", self.url, "--from-start", "all", "--group", "ci")
        to = ("--forward-to", str(port or self.targets["ci"].server.port))
        return self.member("ci", *argv, *to, place=place)

    def run(self, user: str, *argv: str, code: int = 0, home: str = "") -> Result:
        """Runs a command as one of them."""
        env = {
            "SVC_LOG_CREDENTIALS": f"{self.users[user]}\n{KEY}",
            "SVC_BASE_URL": ORIGIN,
            "SVC_API_KEY": "sk_test_of_no_use_1",
        }
        if home:
            env |= {"SVC_STATE_DIR": str(self.folder / home / "state")}
        done = self.svc(*argv, *self.trust, env=env)
        assert done.code == code, (argv, done.out, done.err)
        return done

    def log(self, user: str, *argv: str, code: int = 0) -> Any:
        return self.run(user, "events", "log", *argv, "--from", self.url, code=code).json

    def connect(self, user: str = "admin") -> LogConnection:
        address = LogAddress.parse(self.url, "--to")
        credentials = Credentials.parse(f"{self.users[user]}\n{KEY}", "test")
        return LogConnection(address, credentials, self.context)

    def ask(self, verb: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Asks the log as its admin, again while nothing leads it."""
        found: list[dict[str, Any]] = []

        def asked() -> bool:
            with suppress(Exception), self.connect() as connection:
                found.append(connection.run(connection.api(verb, body)))
            return bool(found)

        wait_for(asked, 60)
        return found[-1]

    def node(self, name: str) -> LogNode:
        return next(one for one in self.running.nodes if one.name == name)

    def leader(self, verb: str = f"STREAM.INFO.{STREAM}") -> LogNode:
        """The server that leads the events, or a queue of them."""
        found: list[str] = []

        def led() -> bool:
            name = str((self.ask(verb).get("cluster") or {}).get("leader") or "")
            found.append(name)
            return bool(name)

        wait_for(led, 60)
        return self.node(found[-1])

    def followers(self) -> list[LogNode]:
        leader = self.leader()
        return [one for one in self.running.nodes if one is not leader]

    def current(self) -> bool:
        with suppress(Exception):
            return bool(self.log("admin", "status")["replicas_current"] == 3)
        return False

    # --- the service ----------------------------------------------------------------------------

    def begin(self) -> None:
        wait_for(self._is_led, 60)
        create = ("create", "--to", self.url, "--group", "ci", "--max-bytes", "256MiB")
        wait_for(lambda: self._did("admin", "events", "log", *create), 60)
        for member in self.members:
            member.start()
        wait_for(lambda: all(one.ready for one in self.members), 90)
        self.begin_again()

    def begin_again(self) -> None:
        """Has the service send, until `rest`."""
        self._over.clear()
        self._threads = [threading.Thread(target=self._send) for _ in range(SENDERS)]
        for thread in self._threads:
            thread.start()

    def _is_led(self) -> bool:
        for node in self.running.nodes:
            with suppress(OSError, ValueError):
                others = node.monitored("jsz?meta=1").get("meta_cluster", {}).get("replicas", [])
                if sum(one["current"] for one in others) == 2:
                    return True
        return False

    def _did(self, user: str, *argv: str) -> bool:
        with suppress(AssertionError):
            self.run(user, *argv)
            return True
        return False

    def _send(self) -> None:
        sender = EventSender(lambda: self.receiver.door)
        while not self._over.is_set():
            with self._numbers:
                number, self._number = self._number, self._number + 1
            while sender.try_once(number) != 200:
                self.ledger.sent_away += 1
                time.sleep(0.1)
            self.ledger.acknowledged.add(f"evt_{number}")
            time.sleep(PAUSE_SECONDS)

    def flows(self, seconds: float = 60, revive: "Callable[[], object]" = list) -> None:
        """Waits until what is sent from now on reaches everybody again; `revive` starts who ended."""
        known = set(self.ledger.acknowledged)
        wait_for(lambda: len(self.ledger.acknowledged) > len(known) + SENDERS, seconds)
        wanted = set(self.ledger.acknowledged) - known
        servers = {name: one.server for name, one in self.targets.items()}
        try:

            def reached() -> bool:
                revive()
                return all(wanted <= set(one.ids) for one in servers.values())

            wait_for(reached, seconds)
        except AssertionError:
            missing = {name: sorted(wanted - set(one.ids)) for name, one in servers.items()}
            raise AssertionError(missing, self.log("admin", "status")["groups"]) from None

    def pause(self) -> None:
        """Has the service send nothing more, until `begin_again`."""
        self._over.set()
        for thread in self._threads:
            thread.join()

    def rest(self) -> None:
        """Ends the sending; everything that was answered is with everybody, or it is lost."""
        self.pause()
        owed = self.ledger.acknowledged
        with suppress(AssertionError):
            wait_for(lambda: all(owed <= set(t.server.ids) for t in self.targets.values()), 90)

    def lost(self) -> dict[str, int]:
        owed = self.ledger.acknowledged
        return {name: len(owed - set(one.server.ids)) for name, one in self.targets.items()}

    def doubles(self) -> tuple[int, int]:
        """How many came a second time to one of them, and how many of those did not say so."""
        twice = unmarked = 0
        for target in self.targets.values():
            seen: set[bytes] = set()
            for one in target.server.received:
                twice += one.body in seen
                if one.body in seen and not one.header("svc-redelivered"):
                    unmarked += 1
                    print("  unmarked:", target.server.port, json.loads(one.body)["id"])
                seen.add(one.body)
        return twice, unmarked

    def held(self) -> list[str]:
        """The ids of all that the log holds."""
        from svc.listen.log.connection import read_stream

        async def ids(connection: LogConnection) -> list[str]:
            found = read_stream(connection, STREAM, {"seq": 1}, "svc.shop.test.>")
            return [one.message.headers.get("Nats-Msg-Id", "") async for one in found]

        with self.connect() as connection:
            return connection.run(ids(connection))

    def end(self) -> None:
        self._over.set()
        for member in self.members:
            member.kill()
        for one in self.targets.values():
            with suppress(Exception):
                one.server.__exit__()

    def play(self, kind: str, scenario: "Callable[[Day], None]") -> None:
        started, number = time.monotonic(), self._number
        scenario(self)
        row = (kind, f"{scenario.__name__}, from evt_{number} to evt_{self._number}",
               time.monotonic() - started)  # fmt: skip
        self.ledger.rows.append(row)

    def client(self, act: Callable[[Any], Any], user: str) -> list[str]:
        """What a stranger's own program does with a member's password; gives what a server says."""
        urls = [f"tls://localhost:{node.port}" for node in self.running.nodes]
        return act_as(urls, self.users[user], act, tls=self.context)
