"""Events in the sandbox's API: lists and retrieves them (assumptions: Events).

It only declares the operations; `store.events` keeps the events.
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
