"""The noun `webhook_endpoint`: a URL to which events are sent (spec: Webhook endpoint).

As data: its fields, statuses and its only verb, create. `svc webhook-endpoints create` and the
sandbox's endpoints are built from it.
"""

from typing import Final

from svc.service.facts import VERSIONS
from svc.service.model import (
    CREATED,
    LIVEMODE,
    Action,
    Field,
    Kind,
    Resource,
    build_id_field,
    build_shape,
    choice,
    collection,
    list_of,
    text,
)

RESOURCE: Final = Resource(
    "webhook_endpoint",
    "Webhook endpoint",
    "Webhook endpoints and events",
    path=collection("webhook_endpoints"),
    fields=(
        build_id_field("webhook_endpoint"),
        Field(
            "url",
            Kind("url", maximum=2000),
            "Where events are sent.",
            "--url URL",
            "create",
            required=True,
            example="https://shop.example/webhooks",
            label="URL",
            column=(20, 0),
            card=10,
        ),
        Field(
            "events",
            list_of(Kind("event_type"), 1000, unique=True),
            "An event type such as order.paid; repeatable, or several as a,b.",
            "--events TYPE",
            "create",
            required=True,
            example=["order.paid"],
            label="Events",
            column=(25, 2),
            card=30,
        ),
        Field(
            "secret",
            build_shape("whsec_[0-9A-Za-z]{32}", "whsec_ and 32 letters or digits"),
            answered="create",
            label="Signing secret",
            card=110,
        ),
        Field("status", choice("enabled", "disabled"), label="Status", column=(10, 0), csv="url"),
        Field(
            "description",
            text(200),
            "A note of your own.",
            "--description TEXT",
            "create",
            nullable=True,
            label="Description",
            card=20,
        ),
        Field("api_version", choice(*VERSIONS), label="API version", card=40),
        CREATED,
        LIVEMODE,
    ),
    actions=(
        Action(
            "create",
            "Register an endpoint; its signing secret is shown this once.",
            "--url https://shop.example/webhooks --events order.paid --events refund.failed",
            encoding="form",
            refuses=("webhook_endpoint_limit",),
        ),
    ),
)
