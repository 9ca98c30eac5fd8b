"""What the client's tests share: clients on real sockets, and a wire without a network."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from support.clocks import ManualClock
from svc.base_url import BaseUrl
from svc.client.client import Client
from svc.clock import Clock
from unit.client.bench import KEY, Bench


@pytest.fixture
def bench() -> type[Bench]:
    """Makes a client whose wire gives prepared results."""
    return Bench


@pytest.fixture
def connect() -> Iterator[Callable[..., Client]]:
    """Makes clients on real sockets; waits between attempts take no time unless asked to."""
    made: list[Client] = []

    def connect(url: str, clock: Clock | None = None, **options: Any) -> Client:
        client = Client(
            BaseUrl.parse(url), KEY, mode="test", clock=clock or ManualClock(), **options
        )
        made.append(client)
        return client

    yield connect
    for client in made:
        client.close()


@pytest.fixture
def stopwatch() -> Callable[[], float]:
    """Gives real seconds since it was asked for."""
    begun = time.monotonic()
    return lambda: time.monotonic() - begun
