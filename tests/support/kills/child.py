"""A listener as a process of its own, for tests that kill it: `child.py STATE TARGET RETRY`.

With `real` the service's schedule goes 60 times as fast. A TARGET that is no port is a command line,
which is tried again after a hundredth of its time.
"""

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast
from unittest.mock import patch

from support.listening import plan_for
from svc.clock import SystemClock
from svc.listen.commands import CommandTarget
from svc.listen.forward import retry
from svc.listen.forward.pump import ForwardOptions
from svc.listen.forward.retry import RetryMode
from svc.listen.inbox.sqlite import open_inbox
from svc.listen.listener import Listener
from svc.listen.output_records import ListenerRecord, Ready
from svc.listen.plan import ListenerPlan
from svc.listen.receiver.server import bind
from svc.listen.routes import Routes
from svc.service import facts
from svc.state import Database
from svc.system.loops import catch_signals
from svc.system.signals import STOPPING


def tell(record: ListenerRecord) -> None:
    if isinstance(record, Ready):
        print("ready", flush=True)


async def main(open_state: Callable[[], Database], target: str, retry: RetryMode) -> None:
    bound = bind()
    print(bound.getsockname()[1], flush=True)
    plan = (
        plan_for(target, forwarding=ForwardOptions(retry=retry))
        if target.isdigit()
        else running(target)
    )
    clock = SystemClock()
    relay = Listener(plan, open_inbox(open_state, "test", clock), clock, tell)
    with catch_signals(asyncio.get_running_loop(), STOPPING, lambda _: relay.stop()):
        await relay.run(bound)


def running(command: str) -> ListenerPlan:
    routes = Routes.parse(
        [], runs=[f"*={command}"], command=lambda text: CommandTarget.parse(text, os.environ)
    )
    return replace(plan_for(), routes=routes, forwarding=ForwardOptions(ordered=True))


QUICK: Final[dict[str, Any]] = {
    "_SCHEDULES": {
        "fast": ((0.02, 0.1, 0.6, 6.0), 36.0)
        if not sys.argv[2].isdigit()
        else retry._SCHEDULES["fast"],
        "real": (
            tuple(seconds / 60 for seconds in facts.WEBHOOK_RETRY_DELAYS),
            facts.WEBHOOK_RETRY_INTERVAL / 60,
        ),
    },
    "WEBHOOK_RETRY_WINDOW_SECONDS": facts.WEBHOOK_RETRY_WINDOW_SECONDS / 60,
}

if __name__ == "__main__":
    with patch.multiple(retry, **QUICK), ExitStack() as stack:

        def open_state() -> Database:
            return stack.enter_context(Database.open(Path(sys.argv[1]), clock=SystemClock()))

        asyncio.run(main(open_state, sys.argv[2], cast("RetryMode", sys.argv[3])))
