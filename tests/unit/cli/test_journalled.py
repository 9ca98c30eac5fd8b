"""What the commands make of a recorded request's past and of its end (promises R4, R10, R12)."""

from types import SimpleNamespace
from typing import Any, TypeAlias, cast

from svc.cli.journalled import deliver

Parts: TypeAlias = tuple[Any, Any, Any, Any]


class Sender:
    """Keeps what it was told of a request's past, and carries it out."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []

    def deliver(self, call: object, prepared: object, **past: Any) -> Any:
        self.told.append(past)
        return SimpleNamespace(status=200, data={"id": "rf_1"}, request_id=None)


def test_a_request_is_sent_with_the_time_of_its_first_sending() -> None:
    """R4: what is resumed is as old as when it was sent first, not as this run."""
    sender = Sender()
    session = SimpleNamespace(note_done=lambda data: None)
    intents = SimpleNamespace(settle=lambda intent, settled: None)
    intent = SimpleNamespace(sent_before=True, first_sent_at=1234.5)
    request = cast("Any", (None, None))
    deliver(*cast("Parts", (session, sender, intents, intent)), request)
    assert sender.told == [{"sent_before": True, "first_sent_at": 1234.5}]
