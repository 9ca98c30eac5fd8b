"""Webhook endpoints (spec: Webhook endpoints and events)."""

from svc.client.call import Body, Call, Encoding


def create(body: Body, *, encoding: Encoding = "form") -> Call:
    """Registers an endpoint: `url` and the list `events`; the answer shows its signing secret."""
    return Call(
        "POST",
        "/v1/webhook_endpoints",
        body=body,
        encoding=encoding,
        expects=("webhook_endpoint",),
    )
