"""A week in an hour: the real program and a sandbox, a handler that comes and goes, a moved clock."""

import json
import os
import re
import resource
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

from support.forks.moved import MovedClock
from support.forks.program import Forked, Forking
from support.listening import (
    OK,
    PATH,
    Received,
    TargetServer,
    delivery,
    event,
    status,
    status_line,
    talk,
)
from support.running import Sandbox, Svc
from support.suite.patience import until
from svc.errors import SignatureError
from svc.signature import verify

_HOUR: Final = 3600.0
_ENTRY: Final = "support.forks.moved"


@dataclass
class ShopHandler:
    """A shop's handler as README has it: it refuses what does not verify, and takes the rest.

    Where it is `failing`, the proxy before it answers. `taken` are the ids that it answered 200.
    """

    clock: MovedClock
    port: int = 0
    secrets: tuple[str, ...] = ()
    failing: bool = False
    taken: list[str] = field(default_factory=list)
    signed_anew: set[str] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)
    unmarked: list[str] = field(default_factory=list)

    def serve(self) -> TargetServer:
        return TargetServer(self._reply, port=self.port)

    def _reply(self, request: Received) -> bytes:
        name = json.loads(request.body)["id"]
        if self.failing:
            return status_line(503)
        try:
            header, now = request.header("svc-signature"), int(self.clock.now())
            verify(request.body, header, self.secrets, now)
        except SignatureError:
            self.refused.append(name)
            return status_line(400)
        if name in self.taken and not request.header("svc-redelivered"):
            self.unmarked.append(name)
        if request.header("svc-original-signature"):
            self.signed_anew.add(name)
        self.taken.append(name)
        return OK


@dataclass
class Week:
    """One shop: its service, its listener, its handler, and what happens to them."""

    forking: Forking
    sandbox: Sandbox
    clock: MovedClock
    folder: Path
    handler: ShopHandler
    secret: str = ""
    answered: set[str] = field(default_factory=set)
    owed: list[bytes] = field(default_factory=list)
    sent: int = 0
    runs: int = 0
    listener: Forked | None = None
    server: TargetServer | None = None

    # --- the listener ---------------------------------------------------------------------------

    def start(self, *more: str) -> None:
        self.runs += 1
        ready = self.folder / "ready"
        to = ("--forward-to", str(self.handler.port), *more)
        argv = ("events", "listen", "-o", "human", "--ready-file", str(ready), *to)
        with self.log("out").open("wb") as out, self.log("err").open("wb") as err:
            env = {**os.environ, **self.clock.env}
            self.listener = self.forking.start(argv, env, out.fileno(), err.fileno(), _ENTRY)
        until(lambda: ready.exists() and ready.read_text().endswith("\n"), self.told)

    def stop(self) -> str:
        """Ends it as Ctrl-C would; gives all that it said."""
        assert self.listener is not None
        self.listener.send_signal(signal.SIGTERM)
        assert self.listener.wait() == 143
        return self.told()

    def kill(self) -> None:
        assert self.listener is not None
        self.listener.kill()
        self.listener.wait()
        (self.folder / "ready").unlink(missing_ok=True)

    def log(self, kind: str) -> Path:
        return self.folder / f"{self.runs}.{kind}"

    def told(self) -> str:
        """All that the screen of this run shows."""
        return " ".join((self.log("out").read_text() + self.log("err").read_text()).split())

    def shows(self, words: str) -> None:
        """Waits until the screen of this run says so."""
        until(lambda: words in self.told(), self.told)

    @contextmanager
    def tells(self, *words: str, times: int = 1) -> Iterator[None]:
        """Within the block, or soon after it, the screen says each of these so many times."""
        before = self.told()
        yield
        wanted = {each: before.count(each) + times for each in words}
        until(lambda: all(self.told().count(one) >= wanted[one] for one in wanted), self.told)

    # --- the service ----------------------------------------------------------------------------

    def send(self, events: int = 1, note: str = "") -> None:
        """Delivers events, and before them what was not answered 200: the service comes again."""
        for _ in range(events):
            self.sent += 1
            self.owed.append(event(self.sent, note=note))
        self.owed = [body for body in self.owed if not self.deliver(body)]

    def deliver(self, body: bytes) -> bool:
        url = urlsplit(json.loads((self.folder / "ready").read_text())["url"])
        sent = delivery(body, now=int(self.clock.now()), secret=self.secret)
        with suppress(OSError):
            if (
                status(talk(url.port or 0, sent.replace(PATH.encode(), url.path.encode(), 1)))
                == 200
            ):
                self.answered.add(json.loads(body)["id"])
                return True
        return False

    def use_new_secret(self) -> None:
        """Signs with the endpoint's secret of now, which the handler is restarted with."""
        [endpoint] = self.sandbox.control("GET", "/webhook_endpoints")["data"]
        self.secret = endpoint["signing_secrets"][0]
        self.handler.secrets = (self.secret,)

    # --- the handler ----------------------------------------------------------------------------

    def begin(self) -> None:
        self.server = self.handler.serve()
        self.server.__enter__()
        self.handler.port = self.server.port

    def leave(self) -> None:
        if self.server is not None:
            self.server.__exit__()
            self.server = None

    def all_is_forwarded(self) -> None:
        until(lambda: self.answered <= set(self.handler.taken), self.told)

    # --- what happens ---------------------------------------------------------------------------

    def lunch(self, hours: float = 1.0) -> None:
        """The handler is not there: what comes is kept, and forwarded when it is back."""
        # Refused, or closed while an answer was under way.
        with self.tells("Events wait for it."):
            self.leave()
            self.send(3)
        with self.tells("events for http://localhost:"):
            self.clock.move(hours * _HOUR)
        with self.tells("back after"):
            self.begin()
            self.clock.move(2)
            self.all_is_forwarded()

    def lunch_behind_a_proxy(self) -> None:
        """The proxy before the handler answers 503; the first success makes all of it due."""
        with self.tells("503", "next try", times=3):  # none is under way when the clock is moved
            self.handler.failing = True
            self.send(3)
        self.clock.move(_HOUR)
        self.handler.failing = False
        self.send()
        self.all_is_forwarded()

    def night_without_a_listener(self) -> None:
        """The handler goes, then the listener is stopped, both till the morning."""
        self.leave()
        self.send(3)
        said = self.stop()
        assert "still to forward 3" in said
        assert "Events that are still pending are kept" in said
        self.clock.move(12 * _HOUR)
        self.begin()
        self.start()
        self.shows("Forwarding 3 events of an earlier run first.")
        self.send()
        self.all_is_forwarded()

    def night_after_a_power_cut(self) -> None:
        """Killed while the handler fails: what may come twice says so."""
        self.handler.failing = True
        self.send(3)
        self.kill()
        self.clock.move(12 * _HOUR)
        self.handler.failing = False
        self.start()
        self.shows(" events of an earlier run first.")  # 3, and what it had not noted yet
        self.all_is_forwarded()

    def secret_is_rolled(self) -> None:
        """With events waiting that were signed by the old one, for a handler that knows the new."""
        self.leave()
        self.send(2)
        [endpoint] = self.sandbox.control("GET", "/webhook_endpoints")["data"]
        with self.tells("was rolled.", "Deliveries have a new signing secret"):
            path = f"/webhook_endpoints/{endpoint['id']}/roll_secret"
            self.sandbox.control("POST", path, {"expires_in": 0})
        self.use_new_secret()
        self.clock.move(_HOUR)
        self.begin()
        self.clock.move(2)
        self.send()
        self.all_is_forwarded()

    def sandbox_is_reset(self) -> None:
        with self.tells("The sandbox was reset", "Deliveries have a new signing secret"):
            self.sandbox.control("POST", "/reset", {})
        self.use_new_secret()
        self.send()
        self.all_is_forwarded()

    def disk_is_full(self) -> None:
        assert self.listener is not None
        pid = self.listener.pid
        before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        with self.tells("not kept", "What cannot be kept is answered 503 and comes again."):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (64 * 1024, before[1]))
            while not self.owed:
                self.send(note="x" * 8000)
        self.all_is_forwarded()
        self.clock.move(_HOUR)
        with self.tells("kept again"):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, before)
            self.send()
        self.all_is_forwarded()

    def target_is_changed(self) -> None:
        """The handler moves to another port; what waits for the old one is taken over."""
        old = self.handler.port
        self.leave()
        self.send(3)
        self.stop()
        self.handler.port = 0
        self.begin()
        self.start()
        self.shows(f"3 events wait for http://localhost:{old}")
        self.stop()
        self.start("--adopt")
        self.all_is_forwarded()


@pytest.fixture
def week(forking: Forking, sandbox: Sandbox, svc: Svc, tmp_path: Path) -> Iterator[Week]:
    """A listener that runs, its handler behind it."""
    svc("events", "listen", "--print-secret")
    with ExitStack() as open_:
        clock = open_.enter_context(MovedClock(tmp_path))
        found = Week(forking, sandbox, clock, tmp_path, ShopHandler(clock))
        found.use_new_secret()
        found.begin()
        open_.callback(found.leave)
        found.start()
        open_.callback(found.kill)
        yield found


def test_what_came_while_the_handler_was_away_is_forwarded_when_it_is_back(week: Week) -> None:
    """R123, README: over a night; the handler refuses what is older than five minutes."""
    week.lunch(12)
    assert week.handler.refused == []
    assert week.handler.signed_anew == {"evt_1", "evt_2", "evt_3"}
    assert sorted(week.handler.taken) == ["evt_1", "evt_2", "evt_3"]


@pytest.mark.slow(seconds=60)
def test_a_week_in_an_hour(week: Week, svc: Svc) -> None:
    """R50, R121 to R125: whatever was answered 200 reaches the handler, and each break is told."""
    days = (
        (lambda: week.lunch(12),),
        (week.secret_is_rolled, week.disk_is_full),
        (week.night_without_a_listener,),
        (week.sandbox_is_reset, week.secret_is_rolled),
        (week.target_is_changed, week.night_after_a_power_cut),
    )
    week.send(2)
    until(lambda: week.told().count(" 200 OK ") == week.sent, week.told)
    for day in days:
        for happens in (week.lunch, week.lunch_behind_a_proxy, *day):
            happens()
    said = week.stop()
    handler = week.handler
    assert len(week.answered) == week.sent
    assert set(handler.taken) == week.answered
    assert (handler.refused, handler.unmarked) == ([], [])
    assert not re.search("failed|still to forward", said.partition("Stopped:")[2])
    states = {one["state"] for one in svc.ok("events", "inbox", "--max", "500")}
    assert states == {"forwarded"}
