"""A listener as a process of its own, for tests that kill it: `child.py STATE TARGET`."""

import asyncio
import sys
from pathlib import Path

from support.listening import PATH, SECRET
from svc.clock import SystemClock
from svc.journal import State
from svc.listen.inbox import SqliteInbox
from svc.listen.receiver import bind
from svc.listen.records import Ready, Record
from svc.listen.relay import Plan, Relay
from svc.listen.routes import Routes


def tell(record: Record) -> None:
    if isinstance(record, Ready):
        print("ready", flush=True)


async def main(state: State, target: str) -> None:
    bound = bind()
    print(bound.getsockname()[1], flush=True)
    plan = Plan("test", (SECRET,), PATH, "http://127.0.0.1/x", Routes.parse([target]))
    await Relay(plan, SqliteInbox(state, "test"), SystemClock(), tell).run(bound)


if __name__ == "__main__":
    with State.open(Path(sys.argv[1]), clock=SystemClock()) as opened:
        asyncio.run(main(opened, sys.argv[2]))
