"""Made-up events are events of the API."""

import itertools
import json

import pytest

from svc import service
from svc.listen.examine.events import FORMS, MADE_UP_ID, ExampleObjects
from svc.service.facts import EVENT_TYPES


def example_objects() -> ExampleObjects:
    numbers = itertools.count(10**40)
    return ExampleObjects(lambda count: str(next(numbers))[-count:], 1_700_000_000)


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_an_event_has_the_fields_and_the_state_of_its_type(kind: str) -> None:
    """Those that answers always have, as the description says; its state shows that it was sent."""
    _, body = example_objects().event(kind)
    event = json.loads(body)
    made, noun = event["data"]["object"], service.noun(kind.partition(".")[0])
    assert noun is not None
    assert list(made) == ["object", *(f.name for f in noun.fields if f.answered == "always")]
    [implied] = [each for each in noun.implies if each.event == kind]
    assert implied.is_shown_by(made)
    events = service.noun("event")
    assert events is not None
    assert set(event) == {"object", *(field.name for field in events.fields)}
    assert MADE_UP_ID.fullmatch(made["id"])


def test_the_same_event_is_the_same_bytes_in_each_form() -> None:
    """Each form is JSON of the same members, and none of them the same bytes."""
    objects = example_objects()
    bodies = [objects.event("order.paid", form)[1] for form in FORMS]
    assert bodies == [objects.event("order.paid", form)[1] for form in FORMS]
    read = [json.loads(body) | {"id": ""} for body in bodies]
    assert all(each == read[0] for each in read)
    assert len(set(bodies)) == len(FORMS)
