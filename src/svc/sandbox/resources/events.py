"""Events in the sandbox's API: `/v1/events/ID`, which retrieves one (assumptions: Events).

The module only declares the operation, for `openapi.document`, whose list `app` routes by. It adds
that a restricted key must be allowed to read the object in the event. `store.events` keeps events.
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
