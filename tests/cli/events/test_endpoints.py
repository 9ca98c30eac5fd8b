"""Endpoints of a real service: registered once, their secrets in the keyring or for the run only."""

import asyncio
import io
import os
from contextlib import AbstractContextManager, ExitStack, closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from support.absence import holding
from support.clocks import ManualClock
from support.listeners import Listen, Pay
from support.listening import TargetServer, arrival, ended, event
from support.running import Sandbox, Svc
from support.suite.patience import until
from svc.api_keys import fingerprint
from svc.cli.events import link
from svc.cli.events.endpoint import Endpoint, Endpoints, Registrar, sandbox_answers
from svc.cli.events.link import EndpointLink
from svc.cli.events.secrets import StoredSecrets
from svc.cli.framework.session import Session
from svc.cli.framework.streams import Streams
from svc.errors import NetworkError, SvcError
from svc.keys.store import KeyStore
from svc.listen.identity import claim_listener
from svc.listen.inbox.history import InboxFilter, InboxHistory, InboxScope
from svc.listen.inbox.interfaces import Batch, InboundEvent, StoreResult
from svc.listen.inbox.listeners import (
    ListenerId,
    archive_before_reset,
    find_last_endpoint,
    remember,
)
from svc.listen.inbox.sqlite import SqliteInbox
from svc.listen.names import Listening
from svc.listen.receiver.server import make_path
from svc.state import Database

EVENTS = ("order.paid",)
PATH = "/hook/0123456789abcdef0123456789abcdef"


class MemoryKeyring:
    """A keyring in memory."""

    name = "memory.Keyring"
    asking = False

    def __init__(self) -> None:
        self.items: dict[str, str] = {}

    def read(self, service: str, user: str) -> str | None:
        return self.items.get(user)

    def write(self, service: str, user: str, secret: str) -> None:
        self.items[user] = secret

    def erase(self, service: str, user: str) -> bool:
        return self.items.pop(user, None) is not None


class RealSession(Session):
    """A session whose keyring is the test's."""

    keyring: MemoryKeyring

    def key_store(self) -> KeyStore:
        return KeyStore([self.keyring])


def endpoint(service: str, keyring: MemoryKeyring, url: str) -> tuple[Endpoint, str]:
    """What one run finds or registers, and what it says on stderr."""
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    env = {**os.environ, "SVC_BASE_URL": service, "SVC_API_KEY": "sk_test_abcdefghijklmnop"}
    with RealSession([], env, streams) as session:
        session.keyring = keyring
        assert not sandbox_answers(session)
        found = Endpoints(session, session.state(), sandbox=False).of(url, PATH, EVENTS)
        assert session.done is None
        if keyring.items:
            assert StoredSecrets(session, session.state()).get(found.id or "")
    assert isinstance(streams.stderr, io.StringIO)
    return found, streams.stderr.getvalue()


def test_secret_of_a_real_endpoint_goes_to_the_keyring(
    service: str, registered: list[dict[str, list[str]]], isolated: Path
) -> None:
    """Registered once, found again; the secret is in the keyring and nowhere in the state folder."""
    keyring = MemoryKeyring()
    url = f"https://tunnel.example{PATH}"
    first, said = endpoint(service, keyring, url)
    again, silent = endpoint(service, keyring, url)
    assert first == again
    assert (first.id, first.secrets, first.where) == ("we_1", ("whsec_of_1",), "in your keyring")
    assert registered == [{"url": [url], "events[]": ["order.paid"]}]
    assert "we_1" in said
    assert silent == ""
    assert list(keyring.items.values()) == ["whsec_of_1"]
    assert holding(isolated / "state", b"whsec_of_1") == []


def test_listener_is_claimed_by_its_targets_or_by_what_it_has_left(tmp_path: Path) -> None:
    """R50: after two have run at once, each command finds its own inbox; another finds work."""
    listening = Listening("http://a", "default", "test", "local", EVENTS)
    with (
        Database.open(tmp_path / "s" / "state.db", clock=ManualClock()) as state,
        ExitStack() as both,
    ):

        def claim(port: int) -> AbstractContextManager[ListenerId]:
            targets = [f"http://localhost:{port}"]
            return claim_listener(state, tmp_path / "locks", listening, make_path, targets)

        one = both.enter_context(claim(1))
        remember(state, one, 4321, "we_1", ["http://localhost:1"])
        two = both.enter_context(claim(2))
        remember(state, two, 4322, "we_2", ["http://localhost:2"])
        arrival = waiting_for("http://localhost:2", 1)
        SqliteInbox(state, two.scope).store(Batch([arrival]))
        both.close()
        for port, expected in ((2, two), (1, one), (3, two)):
            with claim(port) as again:
                assert again.scope == expected.scope
                assert find_last_endpoint(state, listening, ["http://localhost:2"]) == "we_2"


def waiting_for(target: str, number: int) -> InboundEvent:
    """An event that a target is to get."""
    return arrival(event(number), targets=(target,))


def test_inbox_that_begins_anew_keeps_what_it_has(tmp_path: Path) -> None:
    """After a reset known ids are new; old events stay, to be sent again under today's secret."""
    listening = Listening("http://a", "default", "test", "local", EVENTS)
    batch = Batch([arrival(event(1), outcome="unrouted")])
    with (
        Database.open(tmp_path / "s" / "state.db", clock=ManualClock()) as state,
        claim_listener(state, tmp_path / "locks", listening, make_path) as claim,
    ):
        inbox = SqliteInbox(state, claim.scope)
        for number in (1, 2, 3):
            remember(state, claim, 4321, f"we_{number}", ["http://localhost:1"])
            assert inbox.store(batch) == [
                StoreResult(number, duplicate=False, again=False, open=False)
            ]
            assert inbox.store(batch) == [
                StoreResult(number, duplicate=True, again=False, open=False)
            ]
            archive_before_reset(state, claim)
        remember(state, claim, 4321, "we_4", ["http://localhost:1"])
        kept = list(
            InboxHistory(state, InboxScope("default", "test", "http://a")).entries(InboxFilter())
        )
        assert {(one.id, one.endpoint_id) for one in kept} == {("evt_1", "we_4")}
        assert len(kept) == 3


def test_the_inbox_says_what_its_state_reset_means(
    svc: Svc, isolated: Path, tmp_path: Path
) -> None:
    """Below the list and the entry in which it stands, with the command that sends it."""
    listening = Listening("http://a", "default", "test", "local", EVENTS)
    waiting = waiting_for("http://localhost:1", 1)
    with (
        Database.open(isolated / "state" / "state.db", clock=ManualClock()) as state,
        claim_listener(state, tmp_path / "locks", listening, make_path) as claim,
    ):
        SqliteInbox(state, claim.scope).store(Batch([waiting]))
        archive_before_reset(state, claim)
    for words in (("inbox",), ("inbox", "show", "evt_1")):
        shown = svc("events", *words, "-o", "human")
        assert "reset" in shown.out
        told = " ".join(shown.err.split())
        assert "reset: the sandbox was reset before it was forwarded; svc events replay" in told


def test_what_waited_before_a_reset_is_closed_with_that_reason(tmp_path: Path) -> None:
    """Nobody sends what the sandbox knows no more; what has ended keeps how it ended."""
    listening = Listening("http://a", "default", "test", "local", EVENTS)
    arrivals = [waiting_for("http://a", number) for number in (1, 2)]
    with (
        Database.open(tmp_path / "s" / "state.db", clock=ManualClock()) as state,
        claim_listener(state, tmp_path / "locks", listening, make_path) as claim,
    ):
        inbox = SqliteInbox(state, claim.scope)
        inbox.store(Batch(arrivals))
        inbox.store(Batch(attempts=ended([1], "failed")))
        archive_before_reset(state, claim)
        archive = InboxHistory(state, InboxScope("default", "test", "http://a"))
        assert {one.id: one.state for one in archive.entries(InboxFilter())} == {
            "evt_1": "failed",
            "evt_2": "reset",
        }
        assert list(archive.entries(InboxFilter(pending=True))) == []
        assert inbox.count(["http://a"]) == 0


def test_an_id_alone_does_not_say_that_an_endpoint_is_ours(sandbox: Sandbox) -> None:
    """A seeded sandbox after a reset gives the id to an app that registers first: ours is gone."""
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    env = {**os.environ, "SVC_BASE_URL": sandbox.url, "SVC_API_KEY": "sk_test_sandbox"}
    theirs = f"{sandbox.url}/of-the-app"
    ours = f"http://127.0.0.1:4243{PATH}"
    with RealSession([], env, streams) as session:
        endpoints = Endpoints(session, session.state(), sandbox=True)
        sandbox.control("POST", "/reset", {"seed": 7})
        first = endpoints.of(ours, PATH, EVENTS)
        assert endpoints.find_standing(PATH, EVENTS) == "enabled"
        sandbox.control("POST", "/reset", {"seed": 7})
        other = endpoints.of(theirs, "/of-the-app", EVENTS)
        assert other.id == first.id
        assert endpoints.find_standing(PATH, EVENTS) == "forgotten"
        again = endpoints.of(ours, PATH, EVENTS)
        assert endpoints.find_standing(PATH, EVENTS) == "enabled"
        assert endpoints.find_standing("/of-the-app", EVENTS) == "enabled"  # and was not deleted
        assert endpoints.of(ours, PATH, EVENTS) == again
        sandbox.control("POST", f"/webhook_endpoints/{again.id}/disable")
        assert endpoints.find_standing(PATH, EVENTS) == "disabled"


def test_a_disabled_endpoint_is_told_and_registered_again(
    sandbox: Sandbox, pay: Pay, tmp_path: Path, listen: Listen
) -> None:
    with TargetServer() as target, listen(tmp_path, "--forward-to", str(target.port)) as running:
        [ready] = running.wait("ready")
        sandbox.control("POST", f"/webhook_endpoints/{ready['endpoint']}/disable")
        until(lambda: f"in place of {ready['endpoint']};" in said(tmp_path))
        pay()
        running.wait("forward", 2)
    assert said(tmp_path).count("has disabled the listener's webhook endpoint") == 1


@pytest.mark.parametrize("command", [None, "sleep 60"])
def test_a_reset_says_that_the_signing_secret_is_a_new_one(
    sandbox: Sandbox, svc: Svc, tmp_path: Path, listen: Listen, command: str | None
) -> None:
    """A handler that has the old one refuses every delivery from then on: who runs it is told."""
    more = () if command is None else ("--exec", command)
    with listen(tmp_path, "--forward-to", "3000", *more) as running:
        running.wait("ready")
        sandbox.control("POST", "/reset", {"seed": 99})
        until(lambda: "have a new signing secret" in said(tmp_path))
        fresh = svc("events", "listen", "--forward-to", "3000", "--print-secret").out.strip()
    told = said(tmp_path).partition("Warning: ")[2]
    assert told.startswith("The sandbox was reset: the listener's webhook endpoint is gone.")
    assert f"new signing secret, {fingerprint(fresh)}." in told
    assert "in place of" not in told  # nothing was left to be replaced
    if command is None:
        assert "Restart your handler with it: svc events listen" in told
        assert "--print-secret" in told
    else:
        assert (
            "The command of --exec has the old one: stop this listener and start it anew." in told
        )


def test_a_sandbox_that_does_not_answer_is_told_once_and_when_it_does_again() -> None:
    """After some seconds, with where another one runs; then that it is back, and no more."""
    told: list[str] = []
    looks: list[int] = []

    def tell(error: SvcError | None) -> None:
        told.append("again" if error is None else error.message)

    def renew() -> Endpoint | None:
        looks.append(1)
        if len(looks) < 5:
            raise NetworkError("nobody there")
        return None

    endpoint = Endpoint("we_1", "http://127.0.0.1:1", ("whsec_a",), "")
    with (
        patch.object(link, "_LOOK_SECONDS", 0.01),
        patch.object(link, "_TELL_SECONDS", 0.04),
        patch.object(link, "_MOST_SECONDS", 0.08),
        closing(EndpointLink(endpoint)) as watch,
    ):
        watch.renew, watch.absent = renew, tell
        asyncio.run(attached(watch))
    assert told == ["nobody there", "again"]


def test_an_absence_and_its_end_are_told_in_words() -> None:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    nothing: Any = None
    with Session((), {"SVC_BASE_URL": "http://127.0.0.1:9"}, streams) as session:
        registrar = Registrar(session, nothing, nothing, nothing, 1, sandbox=True)
        registrar.tell_absence(NetworkError("Nobody is there."))
        registrar.tell_absence(None)
    assert isinstance(streams.stderr, io.StringIO)
    assert " ".join(streams.stderr.getvalue().split()) == (
        "Warning: The sandbox at http://127.0.0.1:9 does not answer; nothing is delivered until it "
        "is back there. (Nobody is there.) The sandbox at http://127.0.0.1:9 answers again."
    )


def test_a_sandbox_that_moved_is_named(
    svc: Svc, isolated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listen: Listen
) -> None:
    """It runs at another port: one line says where, and the same command goes on there."""
    monkeypatch.delenv("SVC_API_KEY", raising=False)
    before = svc.ok("sandbox", "start", "--detach", "--port", "0")
    try:
        with TargetServer() as target:
            to = ("--forward-to", str(target.port))
            with listen(tmp_path, *to) as running:
                svc.ok("sandbox", "stop")
                after = svc.ok("sandbox", "start", "--detach", "--port", "0")
                assert after["url"] != before["url"]
                until(lambda: "does not answer" in said(tmp_path))
                assert running.end() == 130
            there = f"One runs at {after['url']}: start the listener anew."
            assert said(tmp_path).count(there) == 1
            assert f"The sandbox at {before['url']} does not answer" in said(tmp_path)
            with listen(tmp_path, *to) as running:
                svc.ok("sandbox", "trigger", "order.cancelled")
                running.wait("forward")
            assert len(target.received) == 1
    finally:
        svc("sandbox", "stop", "--all")


async def attached(watch: EndpointLink) -> None:
    watch.attach(None, lambda _: None, lambda _: None)  # type: ignore[arg-type]
    await asyncio.sleep(0.5)


def said(folder: Path) -> str:
    log = min(folder.glob("listen-*.err"))
    return " ".join(log.read_text().split())
