"""What the API's tests share: a sandbox in memory, called over ASGI, on a clock that stands still."""

import asyncio
import threading
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any

import pytest
import uvicorn

from support.sandbox_calls import Sandbox, Served
from support.serving import Hook, Receiver
from svc.sandbox.app import create_app
from svc.sandbox.process.records import listen_on


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """A fresh sandbox in memory, seeded, its clock at START."""
    made = Sandbox()
    yield made
    made.close()


@pytest.fixture(scope="module")
def shared() -> Iterator[Sandbox]:
    """One sandbox for tests that change nothing, or nothing that another one looks at."""
    made = Sandbox()
    yield made
    made.close()


@pytest.fixture
def make_sandbox() -> Iterator[Any]:
    """Makes sandboxes with options of their own."""
    made: list[Sandbox] = []

    def make(**options: Any) -> Sandbox:
        made.append(Sandbox(**options))
        return made[-1]

    yield make
    for sandbox in made:
        sandbox.close()


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """A sandbox on a port from the system, as uvicorn serves it, and a receiver beside it."""
    hooks: SimpleQueue[Hook] = SimpleQueue()
    with Receiver(heard=hooks.put).listening() as receiver, listen_on(0) as sock:
        config = uvicorn.Config(
            create_app(":memory:"),
            http="h11",
            ws="none",
            loop="asyncio",
            access_log=False,
            log_config=None,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([sock])))
        thread.start()
        try:
            port: int = sock.getsockname()[1]
            yield Served(port, hooks, receiver.url)
        finally:
            server.should_exit = True
            thread.join()
