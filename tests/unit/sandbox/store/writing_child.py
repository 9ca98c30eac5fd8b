"""A process that writes payments into a sandbox file as fast as it can and says what it did.

`python writing_child.py FILE`: each line of its output is a key whose call returned, and so must
survive whatever happens next. Eight callers run at once, so that commits are shared.
"""

import asyncio
import itertools
import sys
from typing import Any

from svc.sandbox.engine import Engine
from svc.sandbox.resources import webhook_endpoints
from svc.sandbox.store.sqlite import Store
from svc.sandbox.store.transaction import Transaction


def pay(tx: Transaction, key: str) -> None:
    """One call's effects: object, event, delivery, job, balance, stored result."""
    doc = {"id": tx.new_id("pay_"), "object": "payment", "created": tx.now_text, "key": key}
    tx.add(doc)
    event = tx.emit("payment.captured", doc)
    tx.schedule(3600, "later", doc["id"])
    tx.move_balance("EUR", 1)
    body = f"{doc['id']} {event['id']}".encode()
    tx.put_result(key, "print", 200, body)


async def call(engine: Engine, numbers: "itertools.count[int]", run: str) -> None:
    for number in numbers:
        key = f"{run}-{number}"
        await engine.run("test", lambda tx, key=key: pay(tx, key))  # type: ignore[misc]
        sys.stdout.write(key + "\n")
        sys.stdout.flush()


async def main(path: str, run: str) -> None:
    later: Any = {"later": lambda tx, job: None}
    engine = Engine(Store.open(path), handlers=later)
    if engine.is_new:
        await engine.reset()

        def register(tx: Transaction) -> None:
            url = "http://127.0.0.1:9/"  # nobody listens there
            webhook_endpoints.create_endpoint(
                tx, url=url, events=["payment.captured"], description=None
            )

        await engine.run("test", register)
    await engine.start()
    numbers = itertools.count()
    await asyncio.gather(*(call(engine, numbers, run) for _ in range(8)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
