"""Webhook endpoints (spec: Webhook endpoints and events)."""

from svc.client.call import Body, Call, Encoding
from svc.client.operations import post


def create(body: Body, *, encoding: Encoding = "form") -> Call:
    """Registers an endpoint: `url` and the list `events`; the answer shows its signing secret."""
    return post("webhook-endpoints.create", body, encoding)
