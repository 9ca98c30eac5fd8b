"""What whoever waits for a target is answered, and what a queue is given: values in, values out."""

import asyncio
from collections.abc import Callable

import pytest

from support.clocks import ManualClock
from svc.listen.forward.connection import ForwardTrouble, TargetReply
from svc.listen.forward.items import ForwardItems, attempted
from svc.listen.forward.request import FORWARD_SECONDS
from svc.listen.forward.retry import RetryMode
from svc.listen.forward.waiting import (
    AWAY,
    Waiters,
    key_of,
    status_for_group,
    status_for_sender,
)
from svc.listen.inbox.inbox import Arrival, OpenItem, Tried
from svc.listen.targets import Target
from svc.listen.verify.verify import Delivery, Facts

TARGET = Target.parse("http://127.0.0.1:3000/hooks")
KEY = key_of("evt_1", b"{}")
NOW = 1_700_000_000.0


def said(status: int) -> TargetReply:
    return TargetReply(1.0, status)


def trouble(kind: ForwardTrouble) -> TargetReply:
    return TargetReply(1.0, trouble=kind, error="no")


@pytest.mark.parametrize(
    ("reply", "sender", "group"),
    [
        (said(200), 200, 200),
        (said(299), 200, 200),
        (said(300), 502, 300),
        (said(199), 502, 199),
        (said(404), 502, 404),
        (said(598), 502, 598),
        (said(599), 502, 598),  # 599 would say that the target is away
        (said(999), 502, 598),
        (trouble("timeout"), 504, 504),
        (trouble("unreachable"), 502, AWAY),
        (trouble("closed"), 502, AWAY),
        (trouble("unreadable"), 502, 502),
    ],
)
def test_reply_of_a_target_is_answered_as_agreed(
    reply: TargetReply, sender: int, group: int
) -> None:
    """R51: the service hears 200, 502 or 504; those who share a queue hear the status itself."""
    assert (status_for_sender(reply), status_for_group(reply)) == (sender, group)


def in_loop(story: Callable[[Callable[[float], None]], None]) -> None:
    """Runs a story in a loop of its own whose time the story moves on."""
    loop = asyncio.new_event_loop()
    now = [0.0]
    loop.time = lambda: now[0]  # type: ignore[method-assign]

    def pass_by(seconds: float) -> None:
        now[0] += seconds

    async def whole() -> None:
        story(pass_by)

    try:
        loop.run_until_complete(whole())
    finally:
        loop.close()


def test_worst_of_all_targets_is_the_answer() -> None:
    """R51: whichever ends last, and everybody who waits hears the same, once."""

    def story(pass_by: Callable[[float], None]) -> None:
        waiters = Waiters()
        heard: list[int] = []
        waiters.start(KEY, heard.append)
        assert waiters.join(KEY, heard.append)
        waiter = waiters.find(KEY)
        assert waiter is not None
        for reply in (said(200), trouble("timeout"), said(500), said(200)):
            waiter.heard(reply)
        waiters.release(KEY)
        assert heard == [504, 504]
        waiters.release(KEY)
        assert (heard, waiters.find(KEY), waiters.seconds_left(KEY)) == ([504, 504], None, None)
        assert not waiters.join(KEY, heard.append)

    in_loop(story)


@pytest.mark.parametrize(("before", "after"), [([], 502), ([200], 502), ([None], 504)])
def test_failure_before_anybody_waited_is_no_success(before: list[int | None], after: int) -> None:
    """R51: it turns a 200 into 502, and no worse answer into a better one."""

    def story(pass_by: Callable[[float], None]) -> None:
        waiters = Waiters()
        heard: list[int] = []
        waiters.start(KEY, heard.append)
        waiter = waiters.find(KEY)
        assert waiter is not None
        for status in before:
            waiter.heard(trouble("timeout") if status is None else said(status))
        waiter.fail()
        waiters.release(KEY)
        assert heard == [after]

    in_loop(story)


def test_one_whose_time_is_over_is_not_joined() -> None:
    """R51: after exactly eight seconds nobody waits any more; before, there is time left."""

    def story(pass_by: Callable[[float], None]) -> None:
        waiters = Waiters()
        first, second, third = list[int](), list[int](), list[int]()
        waiters.start(KEY, first.append)
        assert waiters.seconds_left(KEY) == FORWARD_SECONDS == 8.0
        pass_by(7.75)
        assert waiters.join(KEY, second.append)
        assert waiters.seconds_left(KEY) == 0.25
        assert (first, second) == ([], [])
        pass_by(0.25)
        assert not waiters.join(KEY, third.append)
        assert (first, second, third) == ([504], [504], [])

    in_loop(story)


def arrival(redelivered: int = 0) -> Arrival:
    facts = Facts("evt_1", "order.paid", "", None, "ord_1", None, "")
    return Arrival(Delivery(b"{}", b"A: b\r\n", 0.0, facts), None, None, redelivered)


def kept(seq: int, redelivered: int = 0, tried: Tried | None = None) -> OpenItem:
    at = {} if tried is None else {str(TARGET): tried}
    return OpenItem(seq, "evt_1", "order.paid", "ord_1", b"A: b\r\n", b"{}", at, {}, redelivered)


@pytest.mark.parametrize("marked", [False, True])
def test_what_may_come_a_second_time_says_so(marked: bool) -> None:
    """What an earlier run may have sent counts as handed out; what this one received does not."""

    def story(pass_by: Callable[[float], None]) -> None:
        items = ForwardItems("fast", ManualClock(NOW), marked=marked)
        assert items.read(kept(4), TARGET).redelivered == int(marked)
        assert items.arrived(5, arrival(2)).redelivered == 2 * marked
        assert items.arrived(6, arrival()).redelivered == 0
        found = [items.read(kept(seq, 3), TARGET).redelivered for seq in (4, 5, 6)]
        assert found == ([4, 3, 3] if marked else [0, 0, 0])

    in_loop(story)


@pytest.mark.parametrize(
    ("retry", "tried", "attempt", "wait"),
    [
        ("real", None, 1, 0.0),
        ("real", Tried(1, NOW - 20), 2, 40.0),
        ("real", Tried(2, NOW - 20), 3, 580.0),
        ("real", Tried(1, NOW - 61), 2, 0.0),
        ("real", Tried(1, NOW + 99), 2, 60.0),  # the clock was put back
        ("fast", Tried(3, NOW), 4, 0.0),
        ("off", Tried(3, NOW), 4, 0.0),
    ],
)
def test_next_attempt_goes_on_where_an_earlier_run_stood(
    retry: RetryMode, tried: Tried | None, attempt: int, wait: float
) -> None:
    """R50: the number goes on; of the ways of retrying only the service's schedule does."""

    def story(pass_by: Callable[[float], None]) -> None:
        pass_by(7.0)
        item = ForwardItems(retry, ManualClock(NOW), marked=False).read(
            kept(9, tried=tried), TARGET
        )
        assert (item.seq, item.attempt, item.wait, item.seen_at) == (9, attempt, wait, 7.0)
        assert (item.headers, item.body, item.object_id) == (b"A: b\r\n", b"{}", "ord_1")

    in_loop(story)


@pytest.mark.parametrize("retry_in", [None, 5.0])
def test_attempt_is_kept_and_told(retry_in: float | None) -> None:
    """R54: it began as long before its end as it took; the last one is final."""

    def story(pass_by: Callable[[float], None]) -> None:
        item = ForwardItems("fast", ManualClock(NOW), marked=False).arrived(9, arrival())
        reply = TargetReply(1500.0, 503, b"busy")
        noted, told = attempted(TARGET, item, reply, retry_in, NOW)
        assert (noted.seq, noted.target, noted.number) == (9, str(TARGET), 1)
        assert (noted.started_at, noted.milliseconds) == (NOW - 1.5, 1500.0)
        assert (noted.status, noted.error, noted.reply) == (503, None, b"busy")
        assert noted.final is (retry_in is None)
        assert (told.time, told.id, told.url, told.status) == (NOW, "evt_1", str(TARGET), 503)
        assert (told.attempt, told.retry_in, told.reply) == (1, retry_in, b"busy")

    in_loop(story)
