"""The pump of one target by itself; what it does is told by `test_dispatcher`."""

import asyncio
import gc
import tracemalloc
import warnings
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, cast

from svc.clock import SystemClock
from svc.listen.forward.pump import ForwardOptions, Pump
from svc.listen.forward.request import TargetRequest
from svc.listen.http.connection import TargetReply
from svc.listen.inbox.interfaces import OpenItem, Retries


def test_a_pump_that_is_closed_before_it_reads_leaves_nothing_unawaited() -> None:
    """Its task is cancelled before it begins; Python would complain of that on stderr."""

    async def close_at_once() -> None:
        link = SimpleNamespace(close=lambda: None)
        sender: Any = SimpleNamespace(target=None, seconds=None, link=lambda: link)
        pump = Pump(sender, ForwardOptions(), cast("Any", None), SystemClock())
        pump.pump()
        await pump.close(0)

    with warnings.catch_warnings(record=True) as complaints:
        warnings.simplefilter("always")
        asyncio.run(close_at_once())
        gc.collect()
    assert [str(each.message) for each in complaints] == []


def test_what_has_left_a_pump_takes_no_memory() -> None:
    """A listener that runs for a month has had millions of them, and reads no page for hours."""

    async def forward() -> int:
        replies: list[Any] = []

        async def nothing_due(*_: object) -> list[OpenItem]:
            return []

        pump = _pump(replies, due=nothing_due)

        def carry(first: int, last: int) -> None:
            for seq in range(first, last):
                pump.offer(_event(seq))
                replies.pop()(TargetReply(1.0, 200))

        await _settle(pump)
        carry(1, 1000)
        await _settle(pump)
        tracemalloc.start()
        try:
            carry(1000, 6000)
            return tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
            await pump.close(0)

    assert asyncio.run(forward()) < 20_000


def test_a_target_that_keeps_up_is_handed_events_again_although_they_never_cease() -> None:
    """Else each of a night's events was read back: the next one had come before all were read."""

    async def catch_up() -> int:
        ledger = [_event(seq) for seq in range(1, 513)]  # what an earlier run has left
        replies: list[Any] = []
        read: list[OpenItem] = []

        async def due(after: int, most: int) -> list[OpenItem]:
            page = ledger[after : after + most]
            read.extend(page)
            return page

        pump = _pump(replies, due=due)
        pump.pump()
        for forwarded in range(4000):
            if len(ledger) - forwarded <= 256:  # so do groups come while a log is caught up with
                group = [_event(len(ledger) + each) for each in range(1, 257)]
                ledger += group
                for one in group:
                    pump.offer(one)
            await asyncio.sleep(0)
            while not replies:  # noqa: ASYNC110  a page is read, and nothing tells of its end
                await asyncio.sleep(0)
            replies.pop(0)(TargetReply(1.0, 200))
        await pump.close(0)
        return len(read)

    assert asyncio.run(catch_up()) < 1200


def _event(seq: int) -> OpenItem:
    return OpenItem(seq, "evt_1", "order.paid", "ord_1", b"", b"{}")


def _pump(replies: list[Any], due: Callable[[int, int], Awaitable[list[OpenItem]]]) -> Pump:
    """A pump whose target answers by the functions that are put into `replies`."""
    link = SimpleNamespace(close=lambda: None, sent=1)
    link.exchange = lambda *given: replies.append(given[2])
    sender: Any = SimpleNamespace(
        target=None, seconds=None, link=lambda: link, request=lambda *_: TargetRequest(b"")
    )

    async def nothing_again(*_: object) -> Retries:
        return Retries([], None)

    hooks: Any = SimpleNamespace(
        due=due,
        again=nothing_again,
        limit=lambda _: 9.0,
        tried=lambda *_: None,
        well=lambda: None,
        rests=lambda *_: None,
    )
    return Pump(sender, ForwardOptions(), hooks, SystemClock())


async def _settle(pump: Pump) -> None:
    pump.pump()
    while not pump.idle:  # noqa: ASYNC110  nothing tells of it, and it takes a pass or two
        await asyncio.sleep(0)
