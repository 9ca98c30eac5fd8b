"""Events in the API: `/v1/events/ID` retrieves one, no path lists them (assumptions: Events).

The module declares the operation for `openapi.document`, by whose list `app` routes requests, and
that a restricted key must also be allowed to read the object in the event. `store.events` keeps the
events.
"""

from dataclasses import replace
from typing import Final

from svc.sandbox.resources import operation
from svc.service.events import RESOURCE

OPERATIONS: Final = tuple(
    # What a restricted key needs to read the object that an event shows.
    replace(each, reveals=lambda event: f"{event['data']['object']['object']}s")
    for each in operation.operations(RESOURCE)
)
