"""A stranger, a laptop's user and a false log against a team: nothing gets in, nothing leaks out."""

import json
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from process.log.attacks import ACK, APIS, INTO, REQUESTS
from process.log.day import STREAM
from support.listening import TargetServer, arrival, event
from support.running import Sandbox
from support.team.commands import TeamCommands
from support.team.log import (
    KEY,
    ORIGIN,
    connect,
    inbound,
    job,
    laptop,
    publish,
    trust_in,
    wait_for,
)
from support.team.members import act_as
from support.team.servers import Servers
from svc.errors import CheckFailed
from svc.listen.inbox.interfaces import Batch
from svc.listen.log.address import LogAddress
from svc.listen.log.failed import list_failed, retry
from svc.listen.log.inboxes import LogInbox, ids_since
from svc.listen.log.messages import headers_of
from svc.listen.log.streams import report, stream_info
from svc.listen.output_records import Rejected
from svc.signature import header_value

pytestmark = pytest.mark.usefixtures("needed")


def attack(running: Servers, credentials: str, act: Callable[[Any], Awaitable[None]]) -> list[str]:
    return act_as([f"nats://127.0.0.1:{running.nodes[0].port}"], credentials, act)


def held(running: Servers, admin: str) -> tuple[int, int]:
    """How many messages and how many consumers the stream has."""
    with connect(running, admin) as connection:
        state = connection.run(stream_info(connection, "test"))["state"]
    return int(state["messages"]), int(state["consumer_count"])


@pytest.mark.parametrize("user", ["anna", "ci", "receiver"])
def test_no_request_of_a_member_makes_the_log_feed_itself(user: str, team: TeamCommands) -> None:
    """R128: neither by where an answer is to go, nor by what a request's body says."""
    admin = f"{team.users['admin']}\n{KEY}"
    with connect(team.running, admin) as connection:
        publish(connection, range(3))
    before = held(team.running, admin)
    replies = (INTO, f"$JS.API.STREAM.DELETE.{STREAM}", ACK, "reader.x")

    async def act(client: Any) -> None:
        for api, one, reply in product(APIS, REQUESTS, replies):
            asked, body = (
                text.replace("c_anna", f"c_{user}")
                for text in (f"{api}{one.verb}", json.dumps(one.body))
            )
            await client.publish(asked, body.encode(), reply=reply)
        if user != "receiver":  # who may publish: what is forged so lacks the proof
            await client.publish(INTO, event(9))

    said = attack(team.running, team.users[user], act)
    assert held(team.running, admin) == before
    assert any("STREAM.DELETE" in one.upper() for one in said)


def test_a_laptops_report_hides_nobody_elses(team: TeamCommands) -> None:
    """What it writes in its own is read as what it may be, and no more: the admin sees the others."""
    bodies = (b"x", b'{"seq": 1e400, "time": 1}', b'{"seq": 1, "time": NaN}', b"[" * 1000, b"{}")
    status = ("events", "log", "status", "--from", team.url)
    with connect(team.running, f"{team.users['ben']}\n{KEY}") as ben:
        ben.run(report(ben, "test", "ben", 0, 1.5))
    for body in bodies:

        async def act(client: Any, body: bytes = body) -> None:
            await client.publish("reader.shop.test.anna", body)

        assert attack(team.running, team.users["anna"], act) == []
        [reader] = team.run("admin", *status).json["readers"]
        assert (reader["name"], reader["behind"]) == ("ben", 0)


def forged(number: int, header: str, value: str | None) -> tuple[bytes, dict[str, str]]:
    """A message as a receiver makes it, with one header changed or taken away after its proof."""
    with_proof = dict(headers_of(inbound(number).delivery, ADDRESS, "test", KEY, again=False))
    if value is None:
        del with_proof[header]
    else:
        with_proof[header] = value
    return event(number), with_proof


ADDRESS = LogAddress.parse("nats://127.0.0.1/shop", "--to")
FORGED = [
    ("Svc-Receiver-Proof", None, "proof_missing"),
    ("Svc-Receiver-Proof", "0" * 64, "proof_invalid"),
    ("Svc-Receiver-Proof", "é" * 64, "proof_invalid"),
    ("Svc-For-Group", "ci", "proof_invalid"),
]


@contextmanager
def reading(server: Servers, folder: Path, port: int) -> Iterator[tuple[Any, Any]]:
    """A laptop and a job that have read what is there by now."""
    with laptop(server, folder / "a", port) as own, job(server, folder / "b", port) as shared:
        yield own, shared


def test_what_lacks_the_receivers_proof_is_put_aside_told_and_passed(  # noqa: PLR0915  one story
    server: Servers, tmp_path: Path
) -> None:
    """R128: by laptops and jobs alike, whatever is in its headers; the next event is read."""
    made = [forged(number, name, value) for number, (name, value, _) in enumerate(FORGED)]
    body, whole = forged(50, "Svc-Receiver-Proof", None)
    with connect(server) as connection, TargetServer() as target:
        for body_, headers in made:
            answer = connection.run(connection.request(INTO, body_, headers))
            assert b'"seq"' in answer.body, answer.body
        for size, word in ((200_000, b"exceeds maximum"), (63_000, b'"seq"')):
            long = {**whole, "Svc-Lines": "A" * size}
            assert word in connection.run(connection.request(INTO, body, long)).body
        # With the key itself: an older or broken receiver, not a stranger.
        LogInbox(connection, "test", KEY).store(Batch([arrival(event(51), at=float("inf"))]))
        publish(connection, [100])
        with reading(server, tmp_path, target.port) as both:
            for one in both:
                one.until(lambda one=one: len(one.events()) == 1)
                wanted = [*(word for *_, word in FORGED), "proof_missing", "header_invalid"]
                told = [record.reason for record in one.told(Rejected, len(wanted))]
                assert sorted(told) == sorted(wanted)
            wait_for(lambda: target.ids == ["evt_100", "evt_100"])
        with reading(server, tmp_path, target.port) as both:
            publish(connection, [101])
            for one in both:
                one.until(lambda one=one: len(one.events()) == 1)
                assert one.told(Rejected) == []  # it was told once
        aside = connection.run(list_failed(connection, "test", None))
        unproved = [one for one in aside if "Svc-Receiver-Proof" in one.reason]
        assert (len(unproved), len(aside)) == (len(FORGED) + 1, len(FORGED) + 2)
        for one in unproved:  # an admin's key would make a true event of it
            with pytest.raises(CheckFailed, match="given to no reader"):
                connection.run(retry(connection, "test", trust_in(server), one))
        held = connection.run(ids_since(connection, "test", 0, trust_in(server)))
        assert held == {"evt_51", "evt_100", "evt_101"}  # a refill brings the true ones
    assert sorted(target.ids) == ["evt_100"] * 2 + ["evt_101"] * 2


@pytest.mark.parametrize(
    ("name", "value", "body"),
    [
        ("Status", "204", b"{}"),
        ("Status", "404", b""),
        ("Status", "503", b""),
        ("Nats-Sequence", "999999", b"{}"),
        ("Nats-Sequence", "x", b"{}"),
        ("Nats-Last-Sequence", "7", b"{}"),
        ("Nats-Subject", "svc.shop.test.order.refunded", b"{}"),
    ],
)
def test_header_that_a_server_would_give_stops_no_reader(
    name: str, value: str, body: bytes, server: Servers, tmp_path: Path
) -> None:
    """Whoever may publish may name its headers: it is put aside and passed, and no event skipped."""
    with connect(server) as connection, TargetServer() as target:
        connection.run(connection.request(INTO, body, {"Nats-Msg-Id": "evt_x", name: value}))
        publish(connection, [1])
        with reading(server, tmp_path, target.port) as both:
            for one in both:
                one.until(lambda one=one: len(one.events()) == 1)
                assert [record.reason for record in one.told(Rejected)] == ["proof_missing"]
            publish(connection, [2])
            wait_for(lambda: sorted(target.ids) == ["evt_1", "evt_1", "evt_2", "evt_2"])


def test_member_without_the_key_or_with_another_one_does_not_begin(team: TeamCommands) -> None:
    """R128: it could neither prove nor check anything."""
    for credentials, code in (
        (team.users["anna"], "log_key_missing"),
        (f"{team.users['anna']}\nlogkey_{'z' * 43}", "log_key_wrong"),
    ):
        for argv in (("listen", "--from"), ("receive", "--to")):
            done = team.svc("events", *argv, team.url, env={"SVC_LOG_CREDENTIALS": credentials})
            assert (done.code, json.loads(done.err.splitlines()[-1])["error"]["code"]) == (4, code)
            assert "zzzz" not in done.err


def test_end_to_end_is_said_by_a_secret_of_this_origin_alone(
    team: TeamCommands, sandbox: Sandbox, server: Servers
) -> None:
    """A sandbox's secrets are public: one of them says nothing of a real service's events."""
    assert team.svc("events", "listen", "--timeout", "0").code == 0  # it registers an endpoint
    secret = team.svc("events", "listen", "--print-secret", "-o", "human").out.strip()
    now = time.time()
    value = header_value(event(1), [secret], int(now))
    lines = f"Svc-Signature: {value}\r\n".encode()
    with connect(server) as connection:
        LogInbox(connection, "test", KEY).store(Batch([arrival(event(1), lines, now)]))
    argv = ("listen", "--from", server.url(), "--from-start", "all", "--until", "order.paid")
    env = {"SVC_LOG_CREDENTIALS": KEY, "SVC_API_KEY": "sk_test_sandbox"}
    real = ("--base-url", ORIGIN)
    for where, verified in (((), "end_to_end"), (real, "by_receiver")):
        done = team.svc("events", *argv, "--timeout", "15", "-o", "ndjson", *where, env=env)
        records = map(json.loads, done.out.splitlines())
        found = [one["verified"] for one in records if one["record"] == "event"]
        assert found == [verified], done.err
    check = ("events", "verify", "--header", value)
    payload = event(1).decode()
    assert team.svc(*check, stdin=payload).code == 0
    other = team.svc(*check, *real, stdin=payload, env=env)
    assert (other.code, other.error["code"]) == (2, "secret_missing")
