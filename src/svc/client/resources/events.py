"""Events (spec: Webhook endpoints and events)."""

from svc.client.call import Call, segment


def retrieve(event: str) -> Call:
    """Retrieves an event."""
    return Call("GET", f"/v1/events/{segment(event)}", expects=("event",), checks=(("id", event),))
