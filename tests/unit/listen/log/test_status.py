"""How a log is, as numbers, and what its groups have put aside, by a log in memory."""

import asyncio
import json
from typing import Any

import pytest

from support.team.log import KEY
from svc.errors import AuthError
from svc.listen.inbox.interfaces import Position
from svc.listen.log import checks, failed
from svc.listen.log.connection import Message
from svc.listen.log.errors import LogDown, LogRefusal
from svc.listen.log.messages import Trust
from svc.listen.log.status import read_status
from svc.listen.log.streams import moment
from unit.listen.log.fake_log import MADE, STREAM, FakeLog, message

FAILED, READERS = f"STREAM.INFO.{STREAM}_failed", f"{STREAM}_readers"
NOW = moment(MADE) + 90
NO_RIGHT = AuthError("no right")


def note(**more: Any) -> Message:
    """What the log notes of an event that a group has put aside."""
    told = {"consumer": "g_ci", "stream_seq": 4, "deliveries": 20, **more}
    return Message("advisory", "", {}, json.dumps(told).encode())


def report(name: str, seq: int, time: float) -> Message:
    body = b'{"seq": %d, "time": %s}' % (seq, str(time).encode())
    return Message(f"reader.shop.test.{name}", "", {}, body)


def log_with_groups() -> FakeLog:
    log = FakeLog({number: message(number) for number in (3, 4, 5, 6, 7)})
    groups = [
        {"name": "g_ci", "num_pending": 5, "num_ack_pending": 2, "num_redelivered": 4},
        {"name": "g_e2e", "num_redelivered": 1},
        {"name": "other", "num_redelivered": 9},
        {},
    ]
    log.told[f"CONSUMER.LIST.{STREAM}"] = {"consumers": groups}
    aside = {f"$JS.EVENT.ADVISORY.{STREAM}.g_ci": 3, f"$JS.EVENT.ADVISORY.X.{STREAM}.g_ci": 1}
    log.told[FAILED] = {"state": {"subjects": aside}}
    bad = Message("reader.shop.test.eva", "", {}, b'{"seq": 1e9, "time": 1}')
    log.held[READERS] = {1: report("anna", 5, NOW - 0.26), 2: report("ben", 9, NOW + 5), 4: bad}
    return log


def test_status_of_a_log_says_what_waits_for_whom() -> None:
    log = log_with_groups()
    told = asyncio.run(read_status(log, "test", Position(1, f"{MADE} evt_1"), NOW))  # type: ignore[arg-type]
    assert (FAILED, {"subjects_filter": ">"}) in log.asked
    assert (f"CONSUMER.LIST.{STREAM}", {"offset": 0}) in log.asked
    no_group = {"waiting": 0, "unacknowledged": 0, "redelivered": 1, "failed": 0}
    assert told == {
        "object": "log",
        "address": "nats://127.0.0.1/shop",
        "version": "2.12.3",
        "events": 5,
        "bytes": 1000,
        "max_bytes": 5000,
        "oldest_seconds": 90.0,
        "replicas": 3,
        "replicas_current": 1,
        "failed": 4,
        "redelivered": 5,
        "behind": 5,
        "missed": 1,
        "groups": [
            {"name": "ci", "waiting": 5, "unacknowledged": 2, "redelivered": 4, "failed": 4},
            {"name": "e2e", **no_group},
        ],
        "readers": [
            {"name": "anna", "behind": 2, "reported_seconds": 0.3},
            {"name": "ben", "behind": 0, "reported_seconds": 0.0},
        ],
    }


def test_what_a_user_may_not_see_is_told_as_unknown() -> None:
    """None, where no event and no group is 0 and an empty list."""
    names = ("failed", "groups", "readers", "redelivered", "behind", "missed", "oldest_seconds")
    told = []
    for change in ("none", "rights", "apart"):
        log: Any = FakeLog()
        log.told |= {f"CONSUMER.LIST.{STREAM}": {"consumers": None}}
        if change == "rights":
            log.told |= dict.fromkeys((f"CONSUMER.LIST.{STREAM}", FAILED), NO_RIGHT)
            log.told[f"DIRECT.GET.{READERS}"] = NO_RIGHT
        log.is_apart = change == "apart"
        found = asyncio.run(read_status(log, "test", None, NOW))
        told.append([found[name] for name in names])
    assert told == [
        [0, [], [], 0, None, None, None],
        [None, None, None, 0, None, None, None],
        [0, [], None, 0, None, None, None],
    ]
    log = log_with_groups()
    log.told[FAILED] = NO_RIGHT
    groups = asyncio.run(read_status(log, "test", None, NOW))["groups"]
    assert [one["failed"] for one in groups] == [None, None]


def test_what_groups_have_put_aside_is_listed_with_its_reason() -> None:
    log: Any = FakeLog({4: message(4)})
    assert asyncio.run(failed.list_failed(log, "test", None)) == []
    log.held[f"{STREAM}_failed"] = {
        1: note(reason="the target answered 422", timestamp=MADE, deliveries=1),
        2: note(consumer="other"),
        3: note(stream_seq="4"),
        5: Message("advisory", "", {}, b"[]"),
        6: note(consumer="g_e2e", stream_seq=9),
        8: Message("advisory", "", {}, b'{"consumer": "g_e2e", "stream_seq": 4}'),
    }
    first, gone, last = asyncio.run(failed.list_failed(log, "test", None))
    assert first.as_data() == {
        "object": "failed_event",
        "number": 1,
        "event": "evt_4",
        "type": "order.paid",
        "group": "ci",
        "reason": "the target answered 422",
        "deliveries": 1,
        "time": MADE,
        "seq": 4,
    }
    assert (gone.number, gone.event, gone.type, gone.seq) == (6, None, None, 9)
    assert (gone.reason, gone.deliveries) == ("no job has taken it in three days", 20)
    assert (last.number, last.deliveries, last.time) == (8, 0, "")
    assert asyncio.run(failed.list_failed(log, "test", "e2e")) == [gone, last]
    for which, entry in (("1", first), ("6", gone), ("evt_4", last)):
        assert asyncio.run(failed.find_failed(log, "test", which)) == entry


def test_what_is_retried_is_published_for_its_group_and_taken_off_the_list() -> None:
    """An event that was given again before is named by its own id all the same."""
    log: Any = FakeLog({4: message(4)})
    one = failed.SetAside(1, "evt_4", "order.paid", "ci", "no", 1, MADE, 4)
    log.told["svc.shop.test.order.paid"] = Message("", "", {}, b'{"seq": 8}')
    delete = f"STREAM.MSG.DELETE.{STREAM}_failed"
    log.told[delete] = {"success": True}
    asyncio.run(failed.retry(log, "test", Trust(STREAM, (KEY, "logkey_old")), one))
    (subject, (body, headers)), dropped = log.asked
    assert (subject, body, dropped) == (
        "svc.shop.test.order.paid",
        message(4).body,
        (delete, {"seq": 1}),
    )
    assert (headers["Nats-Msg-Id"], headers["Svc-For-Group"]) == ("evt_4 ci 1", "ci")
    log.told["svc.shop.test.order.paid"] = Message(
        "", "", {}, b'{"error": {"description": "full"}}'
    )
    with pytest.raises(LogRefusal, match="full"):
        asyncio.run(failed.retry(log, "test", Trust(STREAM, (KEY,)), one))
    assert log.asked[-1][0] != delete


@pytest.mark.parametrize(
    ("answer", "verdict", "words"),
    [
        (NO_RIGHT, "ok", "its user may not publish"),
        (None, "ok", "its user may not publish"),  # in an account of its own
        (LogDown("no"), "warning", "whether its user may publish was not answered"),
        (b'{"error": {"code": 400}}', "warning", "its user anna may publish, and so forge events"),
        (
            b"{}",
            "warning",
            "every client may publish, and so forge events; only receivers need that",
        ),
    ],
)
def test_a_reader_that_may_publish_is_told(answer: Any, verdict: str, words: str) -> None:
    """R128: nothing is published by asking."""
    log: Any = FakeLog()
    log.is_apart = answer is None
    if answer != b"{}":
        log.credentials = type("Held", (), {"user": "anna"})
    given = Message("", "", {}, answer) if isinstance(answer, bytes) else answer
    log.told["svc.shop.test.order.paid"] = given
    remark = asyncio.run(checks.rights(log, "test"))
    assert (remark.name, remark.verdict) == ("rights", verdict)
    assert words in remark.detail
    for _, (body, headers) in log.asked:
        assert (body, "Nats-Expected-Last-Msg-Id" in headers) == (b"", True)
        assert headers["Nats-Expected-Stream"] != STREAM
