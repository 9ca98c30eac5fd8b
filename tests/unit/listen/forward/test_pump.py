"""The pump of one target by itself; what it does is told by `test_dispatcher`."""

import asyncio
import gc
import warnings
from types import SimpleNamespace
from typing import Any, cast

from svc.clock import SystemClock
from svc.listen.forward.pump import ForwardOptions, Pump


def test_a_pump_that_is_closed_before_it_reads_leaves_nothing_unawaited() -> None:
    """Its task is cancelled before it begins; Python would complain of that on stderr."""

    async def close_at_once() -> None:
        link = SimpleNamespace(close=lambda: None)
        sender: Any = SimpleNamespace(target=None, seconds=None, link=lambda: link)
        pump = Pump(sender, ForwardOptions(), cast("Any", None), SystemClock())
        pump.look()
        await pump.close(0)

    with warnings.catch_warnings(record=True) as complaints:
        warnings.simplefilter("always")
        asyncio.run(close_at_once())
        gc.collect()
    assert [str(each.message) for each in complaints] == []
