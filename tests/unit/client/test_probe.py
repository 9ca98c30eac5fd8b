"""Asking a service for its time, without a key."""

from support.clocks import ManualClock
from svc.base_url import BaseUrl
from svc.client.exchange import Failure, RawReply, Trouble
from svc.client.probe import Reached, probe
from unit.client.bench import FakeWire


def test_the_probe_measures_the_clock_and_sends_no_key() -> None:
    """A Date header of whole seconds is taken for their middle; R28: no Authorization."""
    served = ("date", "Sat, 21 Nov 2026 12:00:00 GMT")
    clock = ManualClock(1795262450.5)
    clock.advance(10.0)
    wire = FakeWire(clock, RawReply(401, (served,), b"{}"))
    wire.seconds = 2.0
    reached = probe(BaseUrl.parse("https://api.example.com"), wire=wire, clock=clock, seconds=5)
    assert isinstance(reached, Reached)
    assert reached == (401, 2000.0, 61.0, None)
    assert not any(name.lower() == "authorization" for name, _ in wire.requests[0].headers)


def test_the_probe_hands_on_why_nothing_answered() -> None:
    """The system's own words stay with it."""
    failure = Failure(Trouble.NO_ADDRESS, sent=False, detail="unknown host")
    clock = ManualClock(0.0)
    base = BaseUrl.parse("https://api.example.com")
    assert probe(base, wire=FakeWire(clock, failure), clock=clock, seconds=5) == failure
