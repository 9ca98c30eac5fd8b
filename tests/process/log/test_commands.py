"""A team's log by the commands that people type: real servers from the template, a sandbox."""

import json
import os
import sqlite3
import sys
import time
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from support.forks.program import Forking
from support.listening import TargetServer, event
from support.running import Sandbox, Svc
from support.suite.patience import patient, until
from support.team.commands import RunningCommand, TeamCommands, server_of
from support.team.log import connect
from svc.listen.log.streams import EVENT_BYTES
from svc.signature import verify


@pytest.mark.effect_of("events audit", "--from")
@pytest.mark.effect_of("events listen", "--from", "--group")
@pytest.mark.effect_of("events log refill", "--to")
@pytest.mark.effect_of("events receive", "--to")
def test_an_event_goes_through_the_whole_team(  # noqa: PLR0915  one story
    team: TeamCommands, forking: Forking
) -> None:
    """From the service by a receiver to each laptop and to one job, with the template's rights."""
    with ExitStack() as open_, TargetServer() as anna, TargetServer() as ci:

        def begin(user: str, *argv: str) -> RunningCommand:
            command = RunningCommand(forking, team, user, *argv)
            open_.callback(command.end)
            command.wait("ready")
            return command

        monitor = ("--log-monitor", team.running.monitor)
        receiver = begin("receiver", "receive", "--to", team.url, *monitor)
        laptop = begin("anna", "listen", "--from", team.url, "--forward-to", str(anna.port))
        begin("ben", "listen", "--from", team.url)
        begin("ci", "listen", "--from", team.url, "--group", "ci", "--forward-to", str(ci.port))
        paid = team.svc("sandbox", "trigger", "order.paid", "-o", "id").out.split()[-1]
        assert paid in [one["id"] for one in receiver.wait("event", 2)]
        came = next(one for one in laptop.wait("event", 2) if one["id"] == paid)
        assert came["redelivered"] == 0
        assert came["came_at"]
        laptop.wait("forward", 2)
        [got] = [one for one in anna.received if paid.encode() in one.body]
        command = ("events", "listen", "--from", team.url, "--print-secret", "-o", "human")
        secret = team.run("anna", *command).out.strip()
        verify(got.body, got.header("svc-signature"), [secret], int(time.time()))
        until(lambda: paid in ci.ids)
        status = team.run("admin", "events", "log", "status", "--from", team.url).json
        assert (status["events"], status["failed"], status["behind"]) == (2, 0, 0)
        assert 0.9 < status["bytes"] / (2 * EVENT_BYTES) < 1  # what a log is sized by
        assert [one["name"] for one in status["groups"]] == ["ci"]
        found = team.svc("doctor", "-o", "json", env=team.env("anna"))
        [log] = [one for one in found.json if one["name"] == "log"]
        assert log["status"] == "warning"  # one copy, and the disk cannot be seen from here
        assert "0 behind" in log["detail"]
        assert "not visible from here" in log["detail"]
    refilled = team.run("admin", "events", "log", "refill", "--to", team.url).json
    assert (refilled["copies"], refilled["added"]) == (2, 0)
    team.svc("sandbox", "trigger", "dispute.opened")  # no receiver runs any more
    team.svc("sandbox", "advance", "2m")
    audit = ("events", "audit", "--from", team.url, "-o", "json")
    with connect(team.running, team.users["receiver"]) as forger:
        forger.run(forger.request("svc.shop.test.order.paid", event(9)))
    missed = team.run("anna", *audit, code=11)
    assert "1 message of the log was put there by no receiver of it." in missed.err
    kinds = sorted(one["type"] for one in json.loads(missed.out))
    assert kinds == ["dispute.opened", "order.paid", "payment.captured"]


@pytest.mark.effect_of("events receive", "--no-copy")
def test_a_receiver_without_a_copy_leaves_nothing_to_refill_from(
    team: TeamCommands, forking: Forking
) -> None:
    """The log alone has what came."""
    receiver = RunningCommand(forking, team, "receiver", "receive", "--to", team.url, "--no-copy")
    receiver.wait("ready")
    team.svc("sandbox", "trigger", "order.paid")
    receiver.wait("event", 2)
    receiver.end()
    refilled = team.run("admin", "events", "log", "refill", "--to", team.url).json
    assert (refilled["copies"], refilled["added"]) == (0, 0)
    status = team.run("admin", "events", "log", "status", "--from", team.url).json
    assert status["events"] == 2


IN_GROUP = ("events", "listen", "--from", "LOG", "--forward-to", "9")


@pytest.mark.parametrize(
    ("user", "argv", "right"),
    [
        ("receiver", ("events", "listen", "--from", "LOG"), "subscribe to notice.shop.test"),
        ("anna", (*IN_GROUP, "--group", "ci"), "CONSUMER.INFO.SVC_shop_test.g_ci"),
        ("ci", (*IN_GROUP, "--group", "e2e"), "CONSUMER.INFO.SVC_shop_test.g_e2e"),
        ("anna", ("events", "log", "refill", "--to", "LOG"), "publish to svc.shop.test"),
    ],
)
def test_refused_right_names_itself(
    user: str, argv: tuple[str, ...], right: str, team: TeamCommands
) -> None:
    """nats-py has a time-out for it; who read that would look for a firewall."""
    if "refill" in argv:
        keep_a_copy(team)
    started = time.monotonic()
    words = (team.url if word == "LOG" else word for word in argv)
    message = team.svc(*words, env=team.env(user)).error["message"]
    assert right in message
    assert f"user {user}" in message
    assert time.monotonic() - started < patient(8)


def keep_a_copy(team: TeamCommands) -> None:
    """Receives one event, so that there is something to put into the log."""
    trigger = f"{sys.executable} -m svc sandbox trigger order.paid -o id"
    until_paid = ("events", "listen", "--until", "order.paid", "--timeout", "15")
    done = team.svc(*until_paid, "--exec", trigger)
    assert done.code == 0, done.err


@pytest.mark.effect_of("events log refill", "--since")
def test_refill_puts_in_what_the_log_would_still_have(team: TeamCommands) -> None:
    """Not only what the service would send again: a laptop may have been away for a week."""
    keep_a_copy(team)
    state = Path(os.environ["SVC_STATE_DIR"]) / "state.db"
    with closing(sqlite3.connect(state)) as opened:
        opened.execute("UPDATE inbox SET received_at = received_at - 6 * 86400")
        opened.commit()
    team.svc("sandbox", "advance", "5d")  # a copy's age is by this machine's clock
    refill = ("events", "log", "refill", "--to", team.url)
    assert team.run("admin", *refill, "--since", "3d").json["copies"] == 0
    filled = team.run("admin", *refill).json
    assert filled["copies"] == filled["added"] > 0


def test_lazy_log_is_refused(
    needed: None, sandbox: Sandbox, svc: Svc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It answers at once and writes minutes later: a power cut would lose what was acknowledged."""
    running, users = server_of(svc, tmp_path / "server", monkeypatch)
    node = running.nodes[0]
    lazy = node.config.replace("sync_interval: always", "sync_interval: 2m")
    node.config = lazy.replace("max_payload: 4MB", "max_payload: 1MB")
    node.start()
    try:
        team = TeamCommands(running, svc, tmp_path, users)
        team.run("admin", "events", "log", "create", "--to", team.url, "--replicas", "1")
        argv = ("events", "receive", "--to", team.url, "--log-monitor", running.monitor)
        done = team.run("receiver", *argv, code=2)
        assert "loses what it has acknowledged" in done.err
        done = team.run("receiver", *argv[:-2], code=2)
        assert "not visible from here" in done.err
        assert "max_payload" in done.err
    finally:
        running.close()
