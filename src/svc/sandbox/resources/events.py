"""Events as the API shows them: each with its resource as it was (assumptions: Events)."""

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
