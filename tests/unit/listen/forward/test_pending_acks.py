"""What whoever waits for a target is answered, and what a queue is given: values in, values out."""

import asyncio
from collections.abc import Callable

import pytest

from svc.listen.forward.pending_acks import (
    AWAY,
    PendingAcks,
    status_for_group,
    status_for_sender,
)
from svc.listen.forward.request import FORWARD_SECONDS
from svc.listen.http.connection import ForwardTrouble, TargetReply

KEY = ("evt_1", b"{}")


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
        (trouble("timeout"), 504, AWAY),
        (trouble("unreachable"), 502, AWAY),
        (trouble("closed"), 502, AWAY),
        (trouble("unreadable"), 502, AWAY),
    ],
)
def test_reply_of_a_target_is_answered_as_agreed(
    reply: TargetReply, sender: int, group: int
) -> None:
    """R51: the service hears 200, 502 or 504; those who share a queue hear the status itself."""
    assert (status_for_sender(reply), status_for_group(reply)) == (sender, group)


def stopped_time() -> Callable[[float], None]:
    """Stops the time of the running loop; gives what moves it on."""
    now = [0.0]
    asyncio.get_running_loop().time = lambda: now[0]  # type: ignore[method-assign]

    def pass_by(seconds: float) -> None:
        now[0] += seconds

    return pass_by


@pytest.mark.parametrize(("before", "after"), [([], 502), ([200], 502), ([None], 504)])
async def test_failure_before_anybody_waited_is_no_success(
    before: list[int | None], after: int
) -> None:
    """R51: it turns a 200 into 502, and no worse answer into a better one."""
    pending_acks = PendingAcks()
    heard: list[int] = []
    pending_acks.start(KEY, heard.append)
    pending_acks.note_stored(7, KEY)
    for status in before:
        pending_acks.note_reply(7, trouble("timeout") if status is None else said(status))
    pending_acks.note_ended(7, taken=False)
    assert heard == [after]


async def test_one_whose_time_is_over_is_not_joined() -> None:
    """R51: after exactly eight seconds nobody waits any more; before, there is time left."""
    pass_by = stopped_time()
    pending_acks = PendingAcks()
    first, second, third = list[int](), list[int](), list[int]()
    pending_acks.start(KEY, first.append)
    assert pending_acks.seconds_left(KEY) == FORWARD_SECONDS == 8.0
    pass_by(7.75)
    assert pending_acks.join(KEY, second.append)
    assert pending_acks.seconds_left(KEY) == 0.25
    assert (first, second) == ([], [])
    pass_by(0.25)
    assert not pending_acks.join(KEY, third.append)
    assert (first, second, third) == ([504], [504], [])
