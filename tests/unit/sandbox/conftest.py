"""What the tests of the sandbox share.

An engine on clocks that a test turns, and a webhook receiver; a sandbox in memory, called over ASGI,
on a clock that stands still; one on a port.
"""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
import uvicorn

from support.sandbox_calls import AsgiSandbox, Served
from support.serving import Hook, HookReceiver
from svc.sandbox.app import SandboxApp
from svc.sandbox.options import LaunchOptions
from svc.sandbox.process.records import listen_on
from unit.sandbox.diary import Diary
from unit.sandbox.faults.watched import WatchedSandbox
from unit.sandbox.lab import Lab, ScriptedReceiver, answer_with


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(str(tmp_path / "sandbox.db"))


@pytest.fixture
def receiver() -> ScriptedReceiver:
    """A receiver that says 200 until told otherwise."""
    return ScriptedReceiver([answer_with(200)])


@pytest.fixture
def diary(lab: Lab) -> Diary:
    return Diary(lab)


@pytest.fixture
def sandbox() -> Iterator[AsgiSandbox]:
    """A fresh sandbox in memory, seeded, its clock at START."""
    made = AsgiSandbox()
    yield made
    made.close()


@pytest.fixture(scope="module")
def shared() -> Iterator[AsgiSandbox]:
    """One sandbox for tests that change nothing, or nothing that another one looks at."""
    made = AsgiSandbox()
    yield made
    made.close()


@pytest.fixture
def make_sandbox() -> Iterator[Any]:
    """Makes sandboxes with options of their own."""
    made: list[AsgiSandbox] = []

    def make(**options: Any) -> AsgiSandbox:
        made.append(AsgiSandbox(**options))
        return made[-1]

    yield make
    for sandbox in made:
        sandbox.close()


@pytest.fixture
def watched() -> Iterator[WatchedSandbox]:
    """A fresh sandbox whose webhooks are looked at."""
    made = WatchedSandbox()
    yield made
    made.sandbox.close()


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """A sandbox on a port from the system, as uvicorn serves it, and a receiver beside it."""
    hooks: SimpleQueue[Hook] = SimpleQueue()
    with HookReceiver(heard=hooks.put).listening() as receiver, listen_on(0)[0] as sock:
        app = SandboxApp(LaunchOptions())
        config = uvicorn.Config(
            app,
            http="h11",
            ws="none",
            lifespan="off",
            access_log=False,
            log_config=None,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)

        async def serve() -> None:
            async with app.run():
                await server.serve([sock])

        thread = threading.Thread(target=lambda: asyncio.run(serve()))
        thread.start()
        try:
            port: int = sock.getsockname()[1]
            yield Served(port, hooks, receiver.url)
        finally:
            server.should_exit = True
            thread.join()
