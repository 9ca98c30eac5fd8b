"""A client on a wire without a network, and everything that a test looks at afterwards."""

import json
from typing import Any

from support.clocks import ManualClock
from svc.base_url import BaseUrl
from svc.client.client import Client
from svc.client.exchange import Deadline, Failure, RawReply, WireRequest

KEY = "sk_test_canary"


def reply(status: int = 200, body: Any = None, **headers: str) -> RawReply:
    """An answer whose body is JSON, or bytes as they are."""
    payload = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return RawReply(status, fields, payload)


class FakeWire:
    """Gives prepared results without a network; the last one for ever.

    Attributes:
        seconds: how long each exchange takes on the clock.
    """

    def __init__(self, clock: ManualClock, *results: RawReply | Failure) -> None:
        self._clock = clock
        self._results = list(results)
        self.requests: list[WireRequest] = []
        self.limits: list[float] = []
        self.seconds = 0.0
        self.closed = False

    def exchange(
        self, request: WireRequest, *, deadline: Deadline, connect_seconds: float
    ) -> RawReply | Failure:
        self.requests.append(request)
        self.limits.append(connect_seconds)
        self._clock.advance(self.seconds)
        return self._results.pop(0) if len(self._results) > 1 else self._results[0]

    def close(self) -> None:
        self.closed = True


class Bench:
    """A client on a fake wire with everything that a test looks at afterwards."""

    def __init__(self, *results: RawReply | Failure, **options: Any) -> None:
        self.clock = ManualClock()
        self.wire = FakeWire(self.clock, *results)
        self.records: list[int] = []  # the numbers of the attempts that were told
        self.client = Client(
            BaseUrl.parse(options.pop("url", "https://api.example.com")),
            options.pop("key", KEY),
            mode=options.pop("mode", "test"),
            clock=self.clock,
            wire=self.wire,
            random=lambda: 0.5,
            new_key=lambda: "key-1",
            on_attempt=lambda _call, number, *_: self.records.append(number),
            **options,
        )

    @property
    def attempts(self) -> int:
        return len(self.wire.requests)
