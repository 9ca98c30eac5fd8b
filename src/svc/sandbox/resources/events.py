"""Events as the API shows them: each with its resource as it was (assumptions: Events)."""

from typing import Final

from svc.sandbox.parameters import schema
from svc.sandbox.resources import operation
from svc.sandbox.store.documents import Doc
from svc.service.facts import EVENT_TYPES, VERSIONS

KIND: Final = "event"
_NOUNS: Final = tuple(dict.fromkeys(name.partition(".")[0] for name in EVENT_TYPES))


def _resource(shown: Doc) -> str:
    """What a restricted key needs to read an object that an event shows."""
    return f"{shown['object']}s"


def _of(noun: str) -> schema.Schema:
    """The events of one resource."""
    types = [name for name in EVENT_TYPES if name.startswith(noun + ".")]
    fields = {
        "type": schema.words(types),
        "api_version": schema.words(VERSIONS),
        "data": schema.strict({"object": schema.ref(noun.capitalize())}),
    }
    return schema.strict(schema.resource(KIND, fields))


ANSWER: Final[schema.Schema] = {"oneOf": [_of(noun) for noun in _NOUNS]}
OPERATIONS: Final = (
    operation.NounOperations("/v1/events", "events", KIND, "Event").retrieve(
        "retrieveEvent", "Retrieve an event", lambda event: _resource(event["data"]["object"])
    ),
)
