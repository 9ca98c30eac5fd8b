"""Events in the API: `/v1/events/ID` retrieves one, no path lists them (assumptions: Events).

The module declares the operation for `openapi.document`, by whose list `app` routes requests, and
that a restricted key must also be allowed to read the object in the event. `store.events` keeps the
events.
"""

from dataclasses import replace
from typing import Final

from svc.sandbox.resources import operation
from svc.sandbox.store.documents import Doc
from svc.service.events import RESOURCE


def _choose_permission(event: Doc) -> str:
    """What a restricted key needs to read the object that an event shows."""
    return f"{event['data']['object']['object']}s"


OPERATIONS: Final = tuple(
    replace(each, reveals=_choose_permission) for each in operation.operations(RESOURCE)
)
