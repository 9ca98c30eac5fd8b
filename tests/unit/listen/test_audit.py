"""Which events the state of an object implies, and how those that are missed are counted."""

from typing import Any

import pytest

from svc.clock import utc
from svc.listen.audit import Audit, ExpectedEvent, derive_events
from svc.service.facts import WEBHOOK_RETRY_WINDOW_SECONDS

MADE = 1_700_000_000.0
REFUND = {"object": "refund", "id": "re_1", "created": utc(MADE), "status": "succeeded"}
CREATED, SUCCEEDED = "refund.created", "refund.succeeded"


def compare(since: float, until: float, has: tuple[str, ...] = (), **more: Any) -> tuple[Any, ...]:
    """What is missed of a refund in a period, and the counts."""
    audit = Audit(lambda kind, _: kind in has, (CREATED, SUCCEEDED), since, until)
    missed = [one.type for one in audit.compare({**REFUND, **more})]
    counts = (audit.expected, audit.missed, audit.tried, audit.undated, audit.recent)
    return audit.objects, missed, counts


@pytest.mark.parametrize(
    ("data", "implied"),
    [
        (REFUND, [(CREATED, MADE), (SUCCEEDED, None)]),
        ({**REFUND, "status": "pending"}, [(CREATED, MADE)]),
        ({**REFUND, "object": "coupon"}, []),
        ({**REFUND, "created": "yesterday"}, []),
        ({**REFUND, "created": 17}, []),
        ({}, []),
    ],
)
def test_the_state_of_an_object_implies_its_events(
    data: dict[str, Any], implied: list[tuple[str, float | None]]
) -> None:
    wanted = [ExpectedEvent(kind, "re_1", at, MADE) for kind, at in implied]
    assert [*derive_events(data)] == wanted


def test_missed_events_are_counted_by_when_they_were_sent() -> None:
    """In the period, or too new, or without a date and perhaps too old; each that came is none."""
    window = WEBHOOK_RETRY_WINDOW_SECONDS
    late = MADE + window
    both = [CREATED, SUCCEEDED]
    assert compare(MADE, late) == (1, both, (2, 2, 0, 0, 0))
    assert compare(MADE, late, (CREATED,)) == (1, [SUCCEEDED], (2, 1, 0, 0, 0))
    assert compare(MADE, late, (CREATED, SUCCEEDED)) == (1, [], (2, 0, 0, 0, 0))
    assert compare(MADE, MADE + window - 60) == (1, both, (2, 2, 0, 0, 0))
    assert compare(MADE, MADE + window - 61) == (1, both, (2, 2, 1, 0, 0))
    assert compare(MADE, MADE) == (1, both, (2, 2, 1, 0, 0))
    assert compare(MADE + 1, late) == (1, [], (0, 0, 0, 1, 0))
    assert compare(MADE + 1, late, (SUCCEEDED,)) == (1, [], (0, 0, 0, 0, 0))
    assert compare(0, MADE - 1) == (1, [], (0, 0, 0, 0, 2))
    assert compare(0, MADE - 1, (CREATED,)) == (1, [], (0, 0, 0, 0, 1))
    assert compare(MADE, late, status="pending") == (1, [CREATED], (1, 1, 0, 0, 0))


def test_a_missed_event_is_shown_with_the_end_of_its_delivery() -> None:
    """R83: the service tries for three days; without a time of its own it may have ended."""
    ends = MADE + WEBHOOK_RETRY_WINDOW_SECONDS
    dated, undated = (ExpectedEvent(CREATED, "re_1", at, MADE) for at in (MADE, None))
    shown = {"object": "missed_event", "type": CREATED, "object_id": "re_1"}
    shown |= {"sent_at": utc(MADE), "sent_after": utc(MADE)}
    assert dated.as_data(ends - 1) == {**shown, "retried_until": utc(ends)}
    assert dated.as_data(ends) == {**shown, "retried_until": None}
    assert undated.as_data(MADE) == {**shown, "sent_at": None, "retried_until": None}
