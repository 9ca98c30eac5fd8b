"""The loop as a whole: acknowledging, order, modes, ends, records."""

import base64
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from support.clocks import ManualClock
from support.listening import (
    NOW,
    OK,
    SECRET,
    RunningListener,
    TargetServer,
    event,
    listening,
    plan_for,
    status_line,
)
from support.suite.patience import patient
from svc.errors import LocalError
from svc.listen.forward.pump import ForwardOptions
from svc.listen.output_records import Ready, StoreState, Summary
from svc.listen.progress import Until
from svc.listen.receiver.connection import ReceiverLimits
from svc.signature import header_value

REFUSALS = [
    pytest.param(lambda _: status_line(500), 502, id="500"),
    pytest.param(lambda _: status_line(404), 502, id="404"),
    pytest.param(lambda _: status_line(301), 502, id="301"),
    pytest.param(lambda _: None, 504, id="hangs"),
]


@pytest.mark.parametrize(("reply", "expected"), REFUSALS)
def test_ack_forwarded_passes_the_verdict_on(reply: Any, expected: int, tmp_path: Path) -> None:
    """R51: the sender hears of the failure and its next try is forwarded again."""
    with TargetServer(reply) as target:
        forwarding = ForwardOptions(seconds=1.5)
        with listening(tmp_path, target.port, ack="forwarded", forwarding=forwarding) as listener:
            assert listener.send(event()) == expected
            target.reply = lambda _: OK
            assert listener.send(event()) == 200
            assert listener.send(event()) == 200
            assert [one.duplicate for one in listener.events(3)] == [False, False, True]
            assert listener.stop().pending == 0
        assert len(target.received) == 2


def test_ack_forwarded_says_502_when_the_target_is_away(tmp_path: Path) -> None:
    """R51: a refused connection is answered at once and not retried here: the sender does that."""
    with listening(tmp_path, 1, ack="forwarded") as listener:
        assert listener.send(event()) == 502
        assert [one.retry_in for one in listener.forwards(1)] == [None]


def test_ack_forwarded_limits_are_the_promised_ones() -> None:
    """R51: 8 s for the target, an answer before 9 s, whatever happens."""
    assert ForwardOptions().seconds == 8
    assert ReceiverLimits().answer_seconds + ReceiverLimits().head_seconds / 20 < 9


def test_sender_gets_its_answer_in_time_whatever_the_queue(tmp_path: Path) -> None:
    """R51: a delivery that never reaches its hanging target is answered 504 by the deadline."""
    limits = ReceiverLimits(answer_seconds=0.5)
    forwarding = ForwardOptions(concurrency=1)
    with (
        TargetServer(lambda _: None) as target,
        listening(
            tmp_path, target.port, ack="forwarded", limits=limits, forwarding=forwarding
        ) as listener,
    ):
        answers: list[int] = []
        threads = [
            threading.Thread(target=lambda n=n: answers.append(listener.send(event(n))))
            for n in range(3)
        ]
        started = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == [504, 504, 504]
        assert time.monotonic() - started < patient(1)


def test_ack_received_answers_before_the_target(tmp_path: Path) -> None:
    """R51: by default the answer does not wait for the target."""
    with TargetServer(lambda _: None) as target, listening(tmp_path, target.port) as listener:
        started = time.monotonic()
        assert listener.send(event()) == 200
        assert time.monotonic() - started < patient(1)


@pytest.mark.parametrize(("mode", "livemode"), [("test", True), ("live", False)])
def test_event_of_the_other_mode_is_withheld(mode: str, livemode: bool, tmp_path: Path) -> None:
    """R60: a live event on a test listener, and the reverse, is flagged and not forwarded."""
    with TargetServer() as target, listening(tmp_path, target.port, mode=mode) as listener:
        assert listener.send(event(livemode=livemode)) == 200
        assert [one.wrong_mode for one in listener.events(1)] == [True]
        summary = listener.stop()
    assert target.received == []
    assert (summary.withheld, summary.pending) == (1, 0)


def test_late_event_is_flagged(tmp_path: Path) -> None:
    """R60: an event that is older than one seen of the same object is told as out of order."""

    def at(number: int, second: int, order: str) -> bytes:
        body = json.loads(event(number, created=f"2023-11-14T22:13:{second}Z"))
        body["data"]["object"]["id"] = order
        return json.dumps(body).encode()

    with listening(tmp_path) as listener:
        for data in (
            at(1, 20, "a"),
            at(2, 10, "a"),
            at(3, 10, "b"),
            at(4, 20, "a"),
            at(2, 10, "a"),
        ):
            listener.send(data)
        found = [(one.id, one.out_of_order) for one in listener.events(5)]
    assert found == [
        ("evt_1", False),
        ("evt_2", True),
        ("evt_3", False),
        ("evt_4", False),
        ("evt_2", False),
    ]


def test_two_secrets_during_rotation(tmp_path: Path) -> None:
    """R48: while a secret is being replaced, deliveries signed with either are taken."""
    body, old = event(), "whsec_the_old_one"
    with listening(tmp_path, secrets=(SECRET, old)) as listener:
        assert listener.send(event(1), secret=old) == 200
        assert listener.send(body, Svc_Signature=header_value(body, [SECRET, old], NOW)) == 200


def test_until_ends_after_the_forward(tmp_path: Path) -> None:
    """`--until TYPE:N`: ends by itself once the Nth such event has arrived at the target."""
    until = Until.parse("order.paid:2")
    with TargetServer() as target, listening(tmp_path, target.port, until=until) as listener:
        listener.send(event(1, "payment.captured"))
        listener.send(event(2, "order.paid"))
        listener.send(event(2, "order.paid"))
        time.sleep(0.05)
        assert listener.summary is None
        listener.send(event(3, "order.paid"))
        listener.until(lambda: listener.summary is not None)
        assert listener.stop().until_reached is True
    assert sorted(target.ids) == ["evt_1", "evt_2", "evt_3"]


def test_until_counts_kept_events_without_a_target(tmp_path: Path) -> None:
    """`--until` works for a listener that only receives; globs are allowed."""
    with listening(tmp_path, until=Until.parse("order.*")) as listener:
        listener.send(event(1, "payout.paid"))
        listener.send(event(2, "order.cancelled"))
        listener.until(lambda: listener.summary is not None)
        assert listener.stop().until_reached is True


def test_timeout_ends_without_what_was_waited_for(tmp_path: Path) -> None:
    """`--timeout`: ends in time and says that the awaited event did not come."""
    with listening(tmp_path, until=Until.parse("order.paid"), timeout=0.1) as listener:
        listener.until(lambda: listener.summary is not None)
        assert listener.stop().until_reached is False


def test_ready_file_is_there_while_ready(tmp_path: Path) -> None:
    """R66: the ready file holds the ready record, whole, as long as the listener runs."""
    ready_file = tmp_path / "ready.json"
    with listening(tmp_path, ready_file=ready_file) as listener:
        [ready] = listener.told(Ready, 1)
        listener.until(ready_file.exists)
        assert json.loads(ready_file.read_text()) == ready.to_dict()
        assert ready_file.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.glob("*ready*")) == []


def test_ready_file_that_cannot_be_written_ends_the_listener(tmp_path: Path) -> None:
    """A script that waits for the file must not wait for ever."""
    plan = plan_for(ready_file=tmp_path / "nowhere" / "ready.json")
    listener = RunningListener(tmp_path / "state" / "state.db", plan, ManualClock(NOW))
    with pytest.raises(LocalError, match=r"ready\.json cannot be written"):
        listener.run_here()


def test_stop_is_quick_and_loses_nothing(tmp_path: Path) -> None:
    """R78: with a hanging target the listener ends within a second; the event stays open."""
    with TargetServer(lambda _: None) as target:
        with listening(tmp_path, target.port) as listener:
            listener.send(event())
            listener.until(lambda: len(target.received) == 1)
            started = time.monotonic()
            assert listener.stop().pending == 1
            # Half a second of grace, then the end.
            assert 0.5 <= time.monotonic() - started < patient(1)
        target.reply = lambda _: OK
        with listening(tmp_path, target.port) as listener:
            assert listener.forwards(1)[0].status == 200


def test_records_are_plain_json(tmp_path: Path) -> None:
    """Each record becomes one JSON object; the payload is there byte for byte, in base64."""
    hostile = event(note="\u202e\x1b]52;c;x\x07[/foo] :smile: \ud800")
    with TargetServer() as target, listening(tmp_path, target.port) as listener:
        listener.send(hostile)
        listener.send(event(2), secret="whsec_wrong")
        listener.forwards(1)
        listener.rejected(1)
        listener.stop()
        lines = [json.loads(json.dumps(one.to_dict())) for one in listener.records]
    kinds = [one["record"] for one in lines]
    assert kinds[0] == "ready"
    assert kinds[-1] == "summary"
    assert sorted(kinds[1:-1]) == ["event", "forward", "rejected"]
    by_kind = {one["record"]: one for one in lines}
    assert base64.b64decode(by_kind["event"]["payload_base64"]) == hostile
    assert by_kind["event"]["verified"] is True
    assert by_kind["event"]["time"] == "2023-11-14T22:13:20.000Z"
    assert by_kind["rejected"]["reason"] == "signature_mismatch"
    assert by_kind["rejected"]["verified"] is False
    assert "payload" not in str(by_kind["rejected"])
    assert by_kind["forward"]["status"] == 200
    assert by_kind["forward"]["reply"] == "ok"
    assert by_kind["forward"]["url"] == f"http://localhost:{target.port}"
    assert isinstance(listener.records[-1], Summary)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 5000,
        b'{"id":5,"type":[],"data":1}',
        b'{"id":"\\ud800"}',
        b'{"a":' + b"9" * 5000 + b"}",
    ],
)
def test_signed_nonsense_is_forwarded(body: bytes, tmp_path: Path) -> None:
    """R46: whatever was signed is passed on as it is; what it does not say is left empty."""
    with TargetServer() as target, listening(tmp_path, target.port) as listener:
        assert listener.send(body) == 200
        [heard] = listener.events(1)
        listener.forwards(1)
        assert listener.send(body) == 200
        assert listener.events(2)[1].duplicate
    assert (heard.type, heard.object_id, heard.amount) == ("", "", None)
    assert [one.body for one in target.received] == [body]


def test_upkeep_that_fails_is_told_and_takes_nothing_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is old stays for another hour; deliveries are taken meanwhile."""

    def refuse(*_: Any) -> None:
        raise LocalError("The disk is full.")

    monkeypatch.setattr("svc.listen.inbox.sqlite.SqliteInbox.prune", refuse)
    with listening(tmp_path) as listener:
        assert [one.reason for one in listener.told(StoreState, 1)] == ["The disk is full."]
        assert listener.send(event()) == 200
