"""Finds missed events: those that the states of objects imply and that were not received.

`svc events audit` passes objects of the service to an `Audit`, which looks for their events in the
inbox or a team's log (`inbox.received`); `svc timeline` asks `derive_events` for the gaps of one
object.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

from svc import service
from svc.clock import seconds_of, utc
from svc.service.facts import WEBHOOK_RETRY_WINDOW_SECONDS

# A delivery that was sent within the last minute may still be on its way.
ON_THE_WAY_SECONDS: Final = 60
_TRIED_SECONDS: Final = WEBHOOK_RETRY_WINDOW_SECONDS - ON_THE_WAY_SECONDS


class ExpectedEvent(NamedTuple):
    """An event that must have been sent, by the state of its object.

    Attributes:
        at: when it was sent (Unix seconds); None if no field of the object has that time.
        not_before: when the object was created (Unix seconds).
    """

    type: str
    object_id: str
    at: float | None
    not_before: float

    def as_data(self, now: float) -> dict[str, Any]:
        """Returns the event as `-o json` prints it; `now` is in Unix seconds."""
        ends = 0.0 if self.at is None else self.at + WEBHOOK_RETRY_WINDOW_SECONDS
        return {
            "object": "missed_event",
            "type": self.type,
            "object_id": self.object_id,
            "sent_at": None if self.at is None else utc(self.at),
            "sent_after": utc(self.not_before),
            "retried_until": utc(ends) if ends > now else None,
        }


def derive_events(data: Mapping[str, Any]) -> Iterator[ExpectedEvent]:
    """Yields the events that the state of one object implies, in the order of `svc.service`.

    Yields nothing for an unknown kind of object, or one without a valid `created`.
    """
    resource = service.noun(str(data.get("object")))
    created = _time(data.get("created"))
    if resource is None or created is None:
        return
    for each in resource.implies:
        if each.is_shown_by(data):
            at = _time(data.get(each.at)) if each.at else None
            yield ExpectedEvent(each.event, str(data.get("id")), at, created)


def _time(value: object) -> float | None:
    return seconds_of(value) if isinstance(value, str) else None


class Audit:
    """Compares objects with the events that were received in a period.

    Attributes:
        objects: the number of objects that were compared.
        expected: the number of events in the period that these objects imply.
        missed: how many of the expected events were not received.
        tried: how many of the missed events the service still tries to deliver.
        undated: the number of events that were not received and may be older than the period: no
            field has their time, and their object was created before it.
        recent: the number of events that were not received and are newer than the period.
    """

    def __init__(
        self,
        has: Callable[[str, str], bool],
        types: Collection[str],
        since: float,
        until: float,
    ) -> None:
        self._has = has
        self._types = types
        self._since = since
        self._until = until
        self.objects = self.expected = self.missed = self.tried = self.undated = self.recent = 0

    def compare(self, data: Mapping[str, Any]) -> Iterator[ExpectedEvent]:
        """Yields the missed events of one object."""
        self.objects += 1
        for event in derive_events(data):
            if event.type not in self._types or not self._is_in_time(event):
                continue
            self.expected += 1
            if not self._has(event.type, event.object_id):
                self.missed += 1
                self.tried += event.at is not None and event.at > self._until - _TRIED_SECONDS
                yield event

    def _is_in_time(self, event: ExpectedEvent) -> bool:
        at = event.not_before if event.at is None else event.at
        if at > self._until:
            self.recent += not self._has(event.type, event.object_id)
            return False
        if at < self._since and event.at is None:
            self.undated += not self._has(event.type, event.object_id)
        return at >= self._since
