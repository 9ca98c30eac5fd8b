"""A listener as a process of its own, for tests that kill it: `child.py STATE TARGET`."""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from typing import cast

from support.listening import PATH, SECRET
from svc.clock import SystemClock
from svc.journal import State
from svc.listen.inbox import SqliteInbox
from svc.listen.lane import Manner
from svc.listen.receiver import bind
from svc.listen.records import Ready, Record
from svc.listen.relay import Plan, Relay
from svc.listen.retries import Retry
from svc.listen.routes import Routes
from svc.system.signals import STOPPING, heard


def tell(record: Record) -> None:
    if isinstance(record, Ready):
        print("ready", flush=True)


async def main(state: State, target: str, retry: Retry) -> None:
    bound = bind()
    print(bound.getsockname()[1], flush=True)
    plan = Plan("test", (SECRET,), PATH, "http://127.0.0.1/x", Routes.parse([target]))
    plan = replace(plan, manner=Manner(retry=retry))
    relay = Relay(plan, SqliteInbox(state, "test"), SystemClock(), tell)
    with heard(asyncio.get_running_loop(), STOPPING, lambda _: relay.stop()):
        await relay.run(bound)


if __name__ == "__main__":
    with State.open(Path(sys.argv[1]), clock=SystemClock()) as opened:
        asyncio.run(main(opened, sys.argv[2], cast("Retry", sys.argv[3])))
