"""The age of a row's idempotency key goes with it to the sender (promise R4)."""

from types import SimpleNamespace
from typing import Any, cast

from support.clocks import ManualClock
from svc.batch.workers import Rate, Workers
from svc.client.client import Client
from svc.delivery.rows import RowJob
from svc.errors import OutcomeUnknown


class RecordingClient:
    """Keeps what it was told of a request's past."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []

    def deliver(self, call: object, prepared: object, **past: Any) -> None:
        self.told.append(past)
        raise OutcomeUnknown("No answer.", outcome="unknown")

    def close(self) -> None:
        """Has nothing to close."""


def test_a_row_is_sent_with_the_time_of_its_first_sending() -> None:
    """R4: a row that is sent again is as old as when it was sent first, not as this run."""
    sender, clock = RecordingClient(), ManualClock()
    kept = SimpleNamespace(idempotency_key="key-1")
    intent = SimpleNamespace(sent_before=True, first_sent_at=1234.5, stored=kept)
    nothing = cast("Any", None)
    job = RowJob(nothing, cast("Any", intent), nothing, nothing)
    fleet = Workers(
        1, lambda: cast("Client", sender), lambda ended: False, Rate(clock, None), clock
    )
    fleet.put([job])
    assert [type(ended.error) for ended in fleet.take(5)] == [OutcomeUnknown]
    fleet.close(5)
    (past,) = sender.told
    assert (past["sent_before"], past["first_sent_at"]) == (True, 1234.5)
