"""Events that could not be forwarded: listed, left alone, and sent again to whom they are owed."""

import json
import os
import re
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from support.listeners import Listen, Pay, Running
from support.listening import OK, Received, TargetServer, status_line
from support.running import Sandbox, Svc
from support.servers.certificates import Authority, TlsServer
from support.suite.patience import WAIT_SECONDS, until

REPLAY = ("events", "replay", "--pending")


@pytest.fixture
def waiting(pay: Pay, tmp_path: Path, listen: Listen) -> int:
    """The port of a target that was away while two events came."""
    with TargetServer() as target:
        port = target.port
    with listen(tmp_path, "--forward-to", f"*.paid=:{port}/a", "--forward-to", f":{port}/b") as it:
        pay()
        it.wait("event", 2)
        it.wait("forward", 1)
        it.end()
    return port


def states(svc: Svc, *argv: str) -> dict[str, str]:
    return {one["type"]: one["state"] for one in svc.ok("events", "inbox", *argv)}


def paths(target: TargetServer) -> list[bytes]:
    return sorted(one.head.split()[1] for one in target.received)


@pytest.mark.effect_of("events inbox", "--pending")
def test_pending_events_are_listed(waiting: int, svc: Svc) -> None:
    """`--pending` shows what waits; `--failed` shows what failed for good and names the others."""
    both = {"order.paid": "pending", "payment.captured": "pending"}
    assert states(svc, "--pending") == states(svc, "--failed", "--pending") == both
    failed = svc("events", "inbox", "--failed")
    assert failed.json == []
    assert "svc events inbox --pending" in failed.err


@pytest.mark.effect_of("events replay", "--forward-to", "--pending")
def test_what_was_under_way_says_so_when_it_is_sent_again(
    pay: Pay, tmp_path: Path, listen: Listen, svc: Svc
) -> None:
    """R124: sent by a listener that was killed, then by `replay`, which is ended, and by the next.

    An attempt that reached nobody counts for nothing.
    """
    with TargetServer(lambda _: None) as target:
        port, seen = target.port, target.received
        with listen(tmp_path, "--forward-to", str(port)) as running:
            pay()
            until(lambda: len(seen) == 2)
            running.process.kill()
            running.process.wait()
        name = json.loads(seen[0].body)["id"]
        for _ in range(2):
            assert svc("events", "replay", name, "--forward-timeout", "0.1").code == 11
    assert svc("events", "replay", name).code == 11  # refused
    with TargetServer(port=port) as back:
        assert svc("events", "replay", "--pending").code == 0
        assert svc("events", "replay", name).code == 0
    marks = [one.header("Svc-Redelivered") for one in (*seen, *back.received)]
    assert marks[:4] == [[], [], [b"1"], [b"2"]]
    assert sorted(marks[4:6]) == [[b"1"], [b"3"]]  # the other event, which was sent once, and this
    assert marks[6:] == [[b"3"]]
    [there] = svc.ok("events", "inbox", "show", name)["targets"]
    assert (there["state"], there["status"], there["attempts"]) == ("forwarded", 200, 5)


def test_pending_events_that_went_elsewhere_stay_owed(waiting: int, svc: Svc) -> None:
    """R50: what was only shown to another address is still forwarded to its target."""
    with TargetServer() as other:
        to = f":{other.port}/look"
        assert svc("events", "replay", "--pending", "--forward-to", to).code == 0
        assert paths(other) == [b"/look", b"/look"]
    assert set(states(svc).values()) == {"pending"}


@pytest.mark.effect_of("events listen", "--no-resume")
def test_no_resume_leaves_them_alone(
    waiting: int, svc: Svc, pay: Pay, tmp_path: Path, listen: Listen
) -> None:
    routes = ("--forward-to", f"*.paid=:{waiting}/a", "--forward-to", f":{waiting}/b")
    with TargetServer(port=waiting) as target, listen(tmp_path, *routes, "--no-resume") as running:
        pay()
        running.wait("forward", 2)
        running.end()
        assert len(target.received) == 2
    assert sorted(one["state"] for one in svc.ok("events", "inbox")) == [
        "forwarded",
        "forwarded",
        "pending",
        "pending",
    ]


def test_pending_events_are_left_to_the_listener_that_runs(
    waiting: int, svc: Svc, tmp_path: Path, listen: Listen
) -> None:
    routes = ("--forward-to", f"*.paid=:{waiting}/a", "--forward-to", f":{waiting}/b")
    with listen(tmp_path, *routes) as running:
        [ready] = running.wait("ready")
        assert ready["pending"] == 2
        port = ready["url"].split(":")[2].split("/")[0]
        refused = svc("events", "replay", "--pending", "-o", "json")
        assert refused.code == 11
        named = (refused.error["code"], refused.error["param"])
        assert named == ("listener_running", "--pending")
        assert f"port {port} " in refused.error["message"]
        running.end()
    with TargetServer(port=waiting) as target:
        assert svc("events", "replay", "--pending").code == 0
        assert len(target.received) == 2


def test_a_listener_that_starts_meanwhile_waits_for_the_replay(
    waiting: int, svc: Svc, tmp_path: Path, listen: Listen
) -> None:
    """R50: what `replay --pending` is sending is not sent by a listener as well, nor by a twin."""
    hangs, go_on = threading.Event(), threading.Event()

    def reply(_: Received) -> bytes:
        hangs.set()
        assert go_on.wait(WAIT_SECONDS)
        return OK

    routes = ("--forward-to", f"*.paid=:{waiting}/a", "--forward-to", f":{waiting}/b")
    with TargetServer(reply, port=waiting) as target, ThreadPoolExecutor(1) as beside:
        replay = beside.submit(svc, *REPLAY, "--forward-timeout", "150")
        assert hangs.wait(WAIT_SECONDS)
        twin = svc(*REPLAY, "-o", "json")
        assert (twin.code, twin.error["code"]) == (11, "replay_running")
        assert twin.error["param"] == "--pending"
        with listen(tmp_path, *routes, ready=False) as listener:
            newest = max(tmp_path.glob("listen-*.err"), key=lambda one: one.stat().st_mtime_ns)
            until(lambda: "Waiting for another svc command" in newest.read_text())
            assert listener.records == []
            go_on.set()
            listener.wait("ready")
            assert replay.result().code == 0
            [summary] = ended(listener)
            assert (summary["forwarded"], summary["pending"]) == (0, 0)
        assert paths(target) == [b"/a", b"/b"]


def test_what_was_closed_since_it_was_listed_is_not_sent(
    waiting: int, svc: Svc, tmp_path: Path
) -> None:
    state = Path(os.environ["SVC_STATE_DIR"]) / "state.db"

    def reply(_: Received) -> bytes:
        with closing(sqlite3.connect(state)) as database, database:
            database.execute("UPDATE ledger SET state = 4")
        return OK

    with TargetServer(reply, port=waiting) as target:
        assert svc("events", "replay", "--pending").code == 0
        assert len(target.received) == 1


def ended(listener: Running) -> list[dict[str, Any]]:
    listener.end()
    return [one for one in listener.records if one["record"] == "summary"]


@pytest.mark.parametrize("which", ["--pending", "--failed"])
def test_an_event_without_a_known_secret_stops_no_other(waiting: int, svc: Svc, which: str) -> None:
    state = Path(os.environ["SVC_STATE_DIR"]) / "state.db"
    if which == "--failed":
        with TargetServer(lambda _: status_line(500), port=waiting):
            assert svc("events", "replay", "--pending").code == 11
        with closing(sqlite3.connect(state)) as database, database:
            database.execute("UPDATE ledger SET state = 5")
    with closing(sqlite3.connect(state)) as database, database:
        database.execute(
            "INSERT INTO listeners (id, scope, origin, profile, mode, targets)"
            " SELECT 99, 'other', origin, profile, mode, targets FROM listeners LIMIT 1"
        )
        database.execute("UPDATE inbox SET listener = 99 WHERE type = 'payment.captured'")
    with TargetServer(port=waiting) as target:
        done = svc("events", "replay", which, "-o", "human")
        assert done.code == 11
        assert "is not known here" in done.err
        assert "1 of 2 events was not taken; 1 of them could not be sent." in done.err
        assert paths(target) == [b"/a"]


@pytest.mark.effect_of("events replay", "--times")
def test_replay_ends_with_a_count(waiting: int, svc: Svc) -> None:
    """For a person; a program counts the records."""
    with TargetServer(port=waiting):
        sent = svc("events", "replay", "--pending", "-o", "human")
        assert sent.err == "2 events sent again, all taken.\n"
        names = [one["id"] for one in svc.ok("events", "inbox")]
        assert svc("events", "replay", names[0], "-o", "human").err == (
            "1 event sent again and taken.\n"
        )
        thrice = svc("events", "replay", *names, "--times", "3", "-o", "human")
        assert thrice.err == "2 events sent again 3 times, taken each time.\n"
        assert svc("events", "replay", *names).err == ""


@pytest.mark.effect_of("events replay", "--failed")
def test_what_waits_for_a_listener_that_is_gone_is_counted_beside_what_failed(
    waiting: int, svc: Svc, tmp_path: Path, listen: Listen
) -> None:
    """Nothing has failed, and yet two events have not arrived; a running listener has them."""
    words = "2 events still wait for a listener that does not run: svc events replay --pending"
    said = svc("events", "replay", "--failed", "-o", "human")
    assert (said.code, said.err) == (0, f"{words}\nNo event has failed.\n")
    with listen(tmp_path, "--forward-to", f"*.paid=:{waiting}/a", "--forward-to", f":{waiting}/b"):
        beside = svc("events", "replay", "--failed", "-o", "human")
    assert (beside.code, beside.err) == (0, "No event has failed.\n")


@pytest.mark.parametrize(
    ("option", "words"),
    [
        pytest.param(
            "--retry=fast", "Forwarding 2 events of an earlier run first.", marks=pytest.mark.slow
        ),
        ("--no-resume", "Left alone: 2 events of an earlier run: svc events inbox --pending"),
    ],
)
def test_a_person_is_told_what_waits(waiting: int, svc: Svc, option: str, words: str) -> None:
    """The welcome counts what an earlier run could not forward, and says what becomes of it."""
    to = ("--forward-to", f"*.paid=:{waiting}/a", "--forward-to", f":{waiting}/b")
    how = (*to, option, "--timeout", "0.1")
    assert words in svc("events", "listen", "-o", "human", *how).out.splitlines()
    told = ", as an earlier run was told"
    adopt = "; --adopt forwards them to the targets of this run"
    for other, more in (((), ""), (("--forward-to", "1"), adopt)):
        said = svc("events", "listen", "-o", "human", *other, "--timeout", "0").err
        owed = [f"1 event waits for http://localhost:{waiting}/{x}{told}{more}." for x in "ab"]
        assert " ".join(said.split()).endswith(" ".join(owed))


@pytest.mark.slow
def test_failed_events_go_only_to_who_did_not_take_them(
    pay: Pay, svc: Svc, tmp_path: Path, listen: Listen
) -> None:
    broken = {"is": True}

    def reply(request: Received) -> bytes:
        wrong = request.head.startswith(b"POST /b") and broken["is"]
        return status_line(500 if wrong else 200)

    with TargetServer(reply) as target:
        port = target.port
        with listen(
            tmp_path,
            *("--forward-to", f":{port}/a", "--forward-to", f":{port}/b", "--retry", "off"),
        ) as it:
            pay()
            it.wait("forward", 4)
            it.end()
        target.received.clear()
        assert svc("events", "replay", "--failed").code == 11
        assert paths(target) == [b"/b", b"/b"]
        assert set(states(svc).values()) == {"failed"}
        broken["is"] = False
        assert [one["status"] for one in _sent(svc("events", "replay", "--failed").out)] == [
            200
        ] * 2
    assert set(states(svc).values()) == {"forwarded"}


def _sent(out: str) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = json.loads(out)
    return sent


@pytest.mark.effect_of("events inbox", "--failed")
@pytest.mark.effect_of("events prune", "--before", "--failed")
def test_what_failed_is_forgotten_when_a_person_says_so(waiting: int, svc: Svc) -> None:
    """R125: by its age and its state, both named; what is pending stays."""
    state = Path(os.environ["SVC_STATE_DIR"]) / "state.db"
    with closing(sqlite3.connect(state)) as database, database:
        database.execute("UPDATE ledger SET state = 5 WHERE event = 1")
        database.execute("UPDATE inbox SET received_at = received_at - 40 * 86400")
    asked = svc("events", "prune", "--failed", "--before", "30d", "--no-input")
    assert asked.error["code"] == "confirmation_required"
    svc.ok("sandbox", "advance", "60d")  # their age is told by this machine's clock
    done = svc.ok("events", "prune", "--failed", "--before", "60d", "--yes")
    assert done["events"] == 0
    done = svc.ok("events", "prune", "--failed", "--before", "30d", "--yes")
    assert done["events"] == 1
    assert [one["state"] for one in svc.ok("events", "inbox")] == ["pending"]


@pytest.mark.effect_of("events inbox", "--object", "--text")
@pytest.mark.effect_of("events replay", "--where")
def test_events_are_chosen_by_their_content(waiting: int, svc: Svc) -> None:
    order = next(iter(svc.ok("events", "inbox", "--type", "order.paid")))["object_id"]
    assert states(svc, "--where", "data.object.amount > `1000000`") == {}
    assert set(states(svc, "--where", "data.object.amount >= `12900`")) == {
        "order.paid",
        "payment.captured",
    }
    # A function that does not fit an event, for it has no items, does not meet it.
    assert set(states(svc, "--where", "length(data.object.items) > `0`")) == {"order.paid"}
    assert set(states(svc, "--object", order)) == {"order.paid", "payment.captured"}
    assert set(states(svc, "--text", "LINEN jacket")) == {"order.paid"}
    with TargetServer(port=waiting) as target:
        done = svc("events", "replay", "--pending", "--where", "type == 'order.paid'")
        assert done.code == 0
        assert paths(target) == [b"/a"]


@pytest.mark.effect_of("events replay", "--set")
def test_a_changed_event_is_sent_and_never_kept(waiting: int, svc: Svc) -> None:
    """It is signed anew, its header says what was changed, and the kept event is as it was."""
    event = svc.ok("events", "inbox", "--type", "order.paid")[0]["id"]
    words = ("events", "replay", event, "--set", "data.object.amount=1")
    with TargetServer() as target:
        size = ("--set", "data.object.metadata.Gr\u00f6\u00dfe=x")
        sent = svc(*words, *size, "--forward-to", str(target.port))
        assert sent.code == 0, sent
        [got] = target.received
    changed = json.loads(got.body)["data"]["object"]
    assert (changed["amount"], changed["metadata"]["Gr\u00f6\u00dfe"]) == (1, "x")
    assert "Gr\u00f6\u00dfe".encode() in got.body
    header = rb"Svc-Changed: data.object.amount, data.object.metadata.Gr\xf6\xdfe"
    assert header + b"\r\n" in got.head
    shown = svc.ok("events", "inbox", "show", event)
    assert shown["payload"]["data"]["object"]["amount"] == 12900
    assert shown["state"] == "pending"
    assert not any(one["replay"] for one in shown["forwards"])


@pytest.mark.effect_of("events sign", "--now", "--payload")
def test_a_payload_of_ones_own_is_signed(
    waiting: int, svc: Svc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The header is what a handler accepts, and what `verify` does; bare, for curl -H."""
    body = tmp_path / "body.json"
    body.write_text('{"id":"evt_1","type":"order.paid"}')
    header = svc("events", "sign", "--payload", str(body)).out
    assert re.fullmatch(r"Svc-Signature: t=\d+,v1=[0-9a-f]{64}\n", header)
    checked = ("events", "verify", "--payload", str(body), "--header")
    assert svc.ok(*checked, header.strip())["verified"] is True
    old = svc.ok("events", "sign", "--payload", str(body), "--now", "1700000000", "-o", "json")
    value = old.pop("value")
    assert value.startswith("t=1700000000,v1=")
    named = {"object": "signature", "header": "Svc-Signature"}
    assert old == {**named, "signed_at": "2023-11-14T22:13:20Z"}
    assert svc(*checked, value).code == 11


def test_what_a_replay_had_taken_is_no_longer_failed_at_the_end(
    pay: Pay, svc: Svc, tmp_path: Path, listen: Listen
) -> None:
    """The last line counts what is so when it is written, and `--strict` goes by it."""
    answers = iter((500, 422, 200))
    with TargetServer(lambda _: status_line(next(answers, 200))) as target:
        to = ("--forward-to", str(target.port), "--retry", "off", "--strict")
        with listen(tmp_path, *to) as running:
            pay()
            running.wait("forward", 2)
            until(lambda: len(svc.ok("events", "inbox", "--failed")) == 2)
            assert svc("events", "replay", "--failed").code == 0
            assert running.end() == 130
            [summary] = running.wait("summary")
    assert (summary["forwarded"], summary["failed"], summary["pending"]) == (2, 0, 0)


def test_a_replay_waits_as_long_as_it_is_told(waiting: int, svc: Svc) -> None:
    """`--forward-timeout`: a breakpoint in the handler does not end it after 8 s, nor need it."""
    with TargetServer(lambda _: None, port=waiting):
        started = time.monotonic()
        result = svc("events", "replay", "--pending", "--forward-timeout", "0.5")
        assert time.monotonic() - started < 8
    assert (result.code, [one["error"] for one in result.json]) == (11, ["no answer in time"] * 2)


def test_a_ca_bundle_holds_for_targets_of_listeners_and_replays(
    pay: Pay, svc: Svc, tmp_path: Path, listen: Listen
) -> None:
    """Without it a failed certificate names both ways; `--insecure-target` is for loopback."""
    authority = Authority(tmp_path)
    trusted = ("--ca-bundle", str(authority.file))
    with TlsServer(authority.issue("127.0.0.1")) as target:
        to = ("--forward-to", f"https://127.0.0.1:{target.port}", "--retry", "off")
        found = []
        for more in ((), trusted, ("--insecure-target",)):
            with listen(tmp_path, *to, *more) as running:
                pay()
                found.append(running.wait("forward", 2))
                running.end()
        assert svc("events", "replay", "--failed").code == 11
        assert svc("events", "replay", "--failed", *trusted).code == 0
    refused, *taken = found
    assert all("--ca-bundle FILE, or --insecure-target" in one["error"] for one in refused)
    assert [one["status"] for each in taken for one in each] == [200] * 4


def test_events_of_a_sandbox_that_runs_at_another_port_by_now_are_named(
    waiting: int, svc: Svc, sandbox: Sandbox
) -> None:
    """An inbox of the new address is empty, and looked as if nothing were owed to anybody."""
    elsewhere = ("--base-url", "http://127.0.0.1:9", "-o", "human")
    told = f"svc events inbox --pending --base-url {sandbox.url}"
    for argv in (("events", "inbox"), REPLAY):
        assert told in " ".join(svc(*argv, *elsewhere).err.split())
    assert "--base-url" not in svc("events", "inbox", "-o", "human").err
    with TargetServer(port=waiting):
        assert svc(*REPLAY).code == 0
    assert "still to be" not in svc("events", "inbox", *elsewhere).err
