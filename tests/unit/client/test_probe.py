"""Asking a service for its time, without a key."""

from support.clocks import ManualClock
from svc.base_url import BaseUrl
from svc.client.exchange import Failure, RawReply, Trouble, WireRequest
from svc.client.probe import Reached, probe


class Answering:
    """A wire with a ready answer that keeps what was sent."""

    def __init__(self, answer: RawReply | Failure) -> None:
        self.answer = answer
        self.sent: list[WireRequest] = []

    def exchange(
        self, request: WireRequest, *, deadline: object, connect_seconds: float
    ) -> RawReply | Failure:
        self.sent.append(request)
        return self.answer

    def close(self) -> None:
        """Nothing is open."""


def test_the_probe_measures_the_clock_and_sends_no_key() -> None:
    """A Date header of whole seconds is taken for their middle; R28: no Authorization."""
    served = ("date", "Sat, 21 Nov 2026 12:00:00 GMT")
    wire = Answering(RawReply(401, (served,), b"{}"))
    clock = ManualClock(1795262460.5)
    reached = probe(BaseUrl.parse("https://api.example.com"), wire=wire, clock=clock, seconds=5)
    assert isinstance(reached, Reached)
    assert (reached.status, reached.skew) == (401, 60.0)
    assert not any(name.lower() == "authorization" for name, _ in wire.sent[0].headers)


def test_the_probe_hands_on_why_nothing_answered() -> None:
    """The system's own words stay with it."""
    failure = Failure(Trouble.NO_ADDRESS, sent=False, detail="unknown host")
    wire = Answering(failure)
    base = BaseUrl.parse("https://api.example.com")
    assert probe(base, wire=wire, clock=ManualClock(0.0), seconds=5) == failure
