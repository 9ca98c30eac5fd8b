"""Events (spec: Webhook endpoints and events)."""

from svc.client.call import Call
from svc.client.operations import retrieval


def retrieve(event: str) -> Call:
    """Retrieves an event."""
    return retrieval("event", event)
