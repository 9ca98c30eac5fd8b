"""The pump of one target by itself; what it does is told by `test_dispatcher`."""

import asyncio
import gc
import tracemalloc
import warnings
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
        link = SimpleNamespace(close=lambda: None, exchange=lambda *given: replies.append(given[2]))
        sender: Any = SimpleNamespace(
            target=None, seconds=None, link=lambda: link, request=lambda *_: TargetRequest(b"")
        )

        async def nothing_due(*_: object) -> list[OpenItem]:
            return []

        async def nothing_again(*_: object) -> Retries:
            return Retries([], None)

        hooks: Any = SimpleNamespace(
            due=nothing_due,
            again=nothing_again,
            limit=lambda _: 9.0,
            tried=lambda *_: None,
            well=lambda: None,
            rests=lambda *_: None,
        )
        pump = Pump(sender, ForwardOptions(), hooks, SystemClock())

        def carry(first: int, last: int) -> None:
            for seq in range(first, last):
                pump.offer(OpenItem(seq, "evt_1", "order.paid", "ord_1", b"", b"{}"))
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


async def _settle(pump: Pump) -> None:
    pump.pump()
    while not pump.idle:  # noqa: ASYNC110  nothing tells of it, and it takes a pass or two
        await asyncio.sleep(0)
