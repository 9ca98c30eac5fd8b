"""What svc says about a log, and its exit codes: old, lone and strange logs, wrong clocks, losses."""

import json
import shlex
import time
from pathlib import Path
from typing import Any

import pytest

from support.listening import SECRET, TargetServer, arrival, event
from support.servers.relays import Relay
from support.team.commands import TeamCommands
from support.team.log import KEY, ORIGIN, connect, inbound, make_streams, publish, wait_for
from support.team.members import SOUND, EventSender, Member
from support.team.servers import Servers, servers
from svc.errors import SignatureError
from svc.listen.inbox.interfaces import Batch
from svc.listen.log import streams
from svc.listen.log.checks import rights
from svc.listen.log.inboxes import LogInbox
from svc.signature import header_value, verify

pytestmark = pytest.mark.usefixtures("needed")
USERS = """
authorization {{ users = [
  {{ user: admin, password: pw }}
  {{ user: anna, password: {anna} }}
] }}
"""
GOOD = "kQ7zXw2TrLm"
TEN_MINUTES_AHEAD = """
import time
from svc.clock import SystemClock
SystemClock.now = lambda self: time.time() + 600
"""


def listen(url: str, *more: str) -> tuple[str, ...]:
    return ("events", "listen", "--from", url, "--from-start", "all", *more)


def ended(folder: Path, *argv: str, code: str = SOUND, **more: Any) -> Member:
    """A member that has ended by itself."""
    member = Member(folder, argv, code, **more)
    member.start()
    assert member.process is not None
    member.process.wait()
    return member


def error_of(member: Member) -> dict[str, Any]:
    found = json.loads(member.errors.splitlines()[-1])["error"]
    assert isinstance(found, dict)
    return found


def returncode(member: Member) -> int | None:
    return member.process.returncode if member.process is not None else None


@pytest.mark.slow(seconds=10)
def test_events_that_were_dropped_for_their_age_fail_a_strict_run(
    server: Servers, tmp_path: Path
) -> None:
    """With their number, and exit code 11: a run that missed events has checked nothing."""
    with connect(server) as connection:
        publish(connection, range(4))
        argv = listen(server.url(), "--until", "order.paid:4", "--timeout", "20")
        assert returncode(ended(tmp_path / "a", *argv)) == 0
        stream = connection.address.stream("test")
        config = connection.run(connection.api(f"STREAM.INFO.{stream}"))["config"]
        publish(connection, range(4, 10))
        aged = {**config, "max_age": 10**9, "duplicate_window": 10**9}
        connection.run(connection.api(f"STREAM.UPDATE.{stream}", aged))

        def gone() -> bool:
            return not connection.run(connection.api(f"STREAM.INFO.{stream}"))["state"]["messages"]

        wait_for(gone)
        connection.run(connection.api(f"STREAM.UPDATE.{stream}", config))
        publish(connection, [20])
    again = listen(server.url(), "--until", "order.paid", "--timeout", "20", "--strict")
    strict = ended(tmp_path / "a", *again)
    assert returncode(strict) == 11, strict.errors
    assert [one["events"] for one in strict.told("missed")] == [6]
    assert "6 missed" in error_of(strict)["message"]


@pytest.mark.slow(seconds=20)
@pytest.mark.limit(90)
@pytest.mark.parametrize("more", [(), ("--group", "ci")])
def test_credentials_that_are_revoked_fail_what_was_waited_for(
    more: tuple[str, ...], tmp_path: Path
) -> None:
    """The listener says so, tries on until its time is up, and ends with 11 and the reason."""
    with (
        servers(tmp_path / "log", more=USERS.format(anna=GOOD)) as running,
        TargetServer() as target,
    ):
        make_streams(running, "admin:pw")
        node = running.nodes[0]
        until = ("--until", "order.paid:2", "--timeout", "15", "--forward-to", str(target.port))
        member = Member(tmp_path / "a", listen(running.url(), *until, *more))
        member.credentials = f"anna:{GOOD}"
        member.start()
        wait_for(lambda: bool(member.ready))
        with connect(running, "admin:pw") as connection:
            publish(connection, [1])
            wait_for(lambda: target.ids == ["evt_1"])
            node.reload(node.config.replace(GOOD, "another"))
            wait_for(lambda: bool(member.told("log")))
            publish(connection, [2])
        assert member.process is not None
        assert member.process.wait() == 11
    assert [one["state"] for one in member.told("log")] == ["down"]
    error = error_of(member)
    assert error["code"] == "until_not_reached"
    assert "anna: the credentials are not taken" in error["message"]
    assert GOOD not in member.errors


@pytest.mark.slow(seconds=20)
@pytest.mark.limit(90)
def test_receiver_whose_credentials_are_revoked_takes_nothing(tmp_path: Path) -> None:
    """503 with the reason in its record, and 200 as soon as they are good again."""
    with servers(tmp_path / "log", more=USERS.format(anna=GOOD)) as running:
        make_streams(running, "admin:pw")
        node = running.nodes[0]
        argv = ("events", "receive", "--to", running.url(), "--tunnel", "none")
        member = Member(tmp_path / "a", argv, credentials=f"anna:{GOOD}")
        member.start()

        def last() -> str:
            told = member.told("rejected")
            return str(told[-1]["message"]) if told else ""

        try:
            wait_for(lambda: bool(member.ready))
            sender = EventSender(lambda: member.door)
            assert sender.try_once(0) == 200
            node.reload(node.config.replace(GOOD, "another"))
            wait_for(lambda: "configuration" in node.log.lower())
            # The first may be of a server that has not said yet why it does not answer.
            wait_for(lambda: sender.try_once(1) == 503 and "credentials are not taken" in last())
            node.reload(node.config)
            sender.deliver(1)
        finally:
            member.kill()
        with connect(running, "admin:pw") as connection:
            info = connection.run(streams.stream_info(connection, "test"))
    assert info["state"]["messages"] == 2


@pytest.mark.parametrize("argv", [("listen", "--from"), ("receive", "--to")])
def test_stream_of_the_other_mode_is_refused(argv: tuple[str, ...], tmp_path: Path) -> None:
    """Live events never meet a test listener, and no receiver mixes the two."""
    with servers(tmp_path / "log") as running:
        with connect(running) as connection:
            wanted = streams.events_stream(connection.address, "test", ORIGIN, 1, 1 << 30, KEY)
            wanted["metadata"]["svc-mode"] = "live"
            connection.run(streams.make(connection, wanted))
        member = ended(tmp_path / "a", "events", *argv, running.url())
    assert returncode(member) == 2
    assert error_of(member)["code"] == "log_of_other_mode"


def debians(greeting: bytes) -> bytes:
    return greeting.replace(b'"version":"2.15.1"', b'"version":"2.9.10"')


@pytest.mark.parametrize("argv", [("listen", "--from"), ("receive", "--to")])
def test_server_that_calls_itself_old_is_refused(
    argv: tuple[str, ...], server: Servers, tmp_path: Path
) -> None:
    """The one that a distribution has loses what it acknowledged; only its greeting is played here.

    A receiver looks at every server of the address.
    """
    first = f"{server.hosts}," if argv[0] == "receive" else ""
    with Relay(server.nodes[0].port, debians) as relay:
        address = f"nats://{first}127.0.0.1:{relay.port}/shop"
        member = ended(tmp_path / "a", "events", *argv, address)
    assert returncode(member) == 2
    error = error_of(member)
    assert (error["code"], error["param"]) == ("log_version", argv[1])
    assert "nats-server 2.9.10 is older than 2.12.3" in error["message"]
    assert "nats.io" in error["message"]


@pytest.mark.effect_of("events receive", "--log-monitor")
def test_lone_copy_and_unseen_disk_are_said_at_the_start(server: Servers, tmp_path: Path) -> None:
    """Whoever tries it out hears what is missing for more than that; with a monitor it is looked at."""
    argv = ("events", "receive", "--to", server.url(), "--tunnel", "none", "--log-monitor")
    member = Member(tmp_path / "a", argv[:-1])
    watched = Member(tmp_path / "b", (*argv, server.monitor))
    for one in (member, watched):
        one.start()
    wait_for(lambda: bool(member.ready) and bool(watched.ready))
    for one in (member, watched):
        one.end()
    assert "the stream has 1 copy" in member.errors
    assert "not visible from here" in member.errors
    assert "not visible from here" not in watched.errors


def test_laptop_with_a_wrong_clock_signs_with_it_and_is_warned(
    server: Servers, tmp_path: Path
) -> None:
    """R52's exception: its app runs on the same machine and looks at the same clock."""
    secret = tmp_path / "secret"
    exec_ = f'printf %s "$SVC_WEBHOOK_SECRET" > {shlex.quote(str(secret))}; sleep 60'
    with connect(server) as connection, TargetServer() as target:
        publish(connection, [1])
        argv = listen(server.url(), "--forward-to", str(target.port), "--exec", exec_)
        member = Member(tmp_path / "a", argv, TEN_MINUTES_AHEAD + SOUND)
        member.start()
        try:
            wait_for(lambda: bool(target.received) and secret.exists() and secret.read_text() != "")
        finally:
            member.end()
    signed, own = target.received[0].header("svc-signature"), [secret.read_text()]
    verify(event(1), signed, own, int(time.time()) + 600)
    with pytest.raises(SignatureError):
        verify(event(1), signed, own, int(time.time()))
    assert "s ahead of the log's" in member.errors
    assert "an app on another machine refuses" in member.errors


def forge(server: Servers, number: int, secret: str) -> None:
    """Puts an event into the log with a signature, as whoever may publish can."""
    now = time.time()
    body = event(number)
    lines = f"Svc-Signature: {header_value(body, [secret], int(now))}\r\n".encode()
    with connect(server) as connection:
        inbox = LogInbox(connection, "test", KEY)
        inbox.store(Batch([arrival(body, lines, now)]))


@pytest.mark.parametrize("more", [(), ("--group", "ci")])
def test_signature_that_the_given_secret_did_not_make_is_refused(
    more: tuple[str, ...], server: Servers, tmp_path: Path
) -> None:
    """R49: a machine that was given the endpoint's secret forwards nothing that it did not sign.

    R129: a group's event is put aside by no job's secret; another job has it.
    """
    forge(server, 1, "whsec_of_somebody_else")
    forge(server, 2, SECRET)
    with TargetServer() as target:
        until = ("--until", "order.paid", "--timeout", "20", "--strict")
        argv = listen(server.url(), *until, "--forward-to", str(target.port), *more)
        member = ended(tmp_path / "a", *argv)
        assert returncode(member) == 11, member.errors
    assert target.ids == ["evt_2"]
    [event_] = member.told("event")
    assert (event_["id"], event_["verified"]) == ("evt_2", "end_to_end")
    rejected = member.told("rejected")[0]
    assert rejected["reason"] == "signature_mismatch"
    assert "Message 1 of the log is put aside" in rejected["message"]
    if more:
        with TargetServer() as target:
            again = listen(server.url(), *until, "--forward-to", str(target.port), *more)
            assert returncode(ended(tmp_path / "b", *again, secret="")) == 0
        assert target.ids == ["evt_1"]


@pytest.mark.slow(seconds=15)
@pytest.mark.parametrize("more", [(), ("--group", "ci")])
def test_listener_ends_when_the_log_has_another_key(
    more: tuple[str, ...], server: Servers, tmp_path: Path
) -> None:
    """R128: by its own key what receivers put in would be forged, and all of it be passed."""
    key = "logkey_" + "n" * 43
    with connect(server) as connection, TargetServer() as target:
        argv = listen(server.url(), "--forward-to", str(target.port), *more)
        member = Member(tmp_path / "a", argv, secret="")
        member.start()
        publish(connection, [1])
        wait_for(lambda: target.ids == ["evt_1"])
        wanted = streams.events_stream(connection.address, "test", ORIGIN, 1, 1 << 30, key)
        connection.run(streams.make(connection, wanted, {"metadata"}))
        LogInbox(connection, "test", key).store(Batch([inbound(2)]))
        assert member.process is not None
        assert member.process.wait() == 4, member.errors
        assert error_of(member)["code"] == "log_key_wrong"
        assert member.told("rejected") == []
        member.key = f"{key}\n{KEY}"
        member.start()
        wait_for(lambda: target.ids == ["evt_1", "evt_2"], 40)
        member.end()


def test_doctor_warns_of_a_laptop_that_may_publish(team: TeamCommands) -> None:
    """Whoever may publish may forge; looking puts nothing into the log."""
    for user, verdict in (("anna", "ok"), ("admin", "warning")):
        with connect(team.running, f"{team.users[user]}\n{KEY}") as connection:
            remark = connection.run(rights(connection, "test"))
            assert remark.verdict == verdict, remark
    argv = ("listen", "--from", team.url, "--timeout", "0", "--name", "anna")
    for user, words in (("anna", "its user may not publish"), ("admin", "admin may publish")):
        team.run(user, "events", *argv)
        found = team.run(user, "doctor", "-o", "json").json
        [log] = [one for one in found if one["name"] == "log"]
        assert words in log["detail"]
    status = team.run("admin", "events", "log", "status", "--from", team.url).json
    assert status["events"] == 0


def test_status_of_a_log_is_not_that_of_one_with_a_longer_name(
    server: Servers, tmp_path: Path
) -> None:
    """This machine has read shop2 alone: of shop it is behind by nothing that it knows."""
    with connect(server, name="shop2") as connection:
        wanted = streams.events_stream(connection.address, "test", ORIGIN, 1, 1 << 20, KEY)
        connection.run(streams.make(connection, wanted))
    status = ("events", "log", "status", "--from")
    ended(tmp_path / "a", *listen(server.url("shop2"), "--timeout", "0"))
    for name, behind in (("shop", None), ("shop2", 0)):
        shown = ended(tmp_path / "a", *status, server.url(name))
        found = json.loads((tmp_path / "a" / "out").read_text().splitlines()[-1])
        assert found["behind"] == behind, shown.errors
