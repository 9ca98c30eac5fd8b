"""The noun `event`: the type of a change, and the object at that time (spec: Event, Events).

As data: its fields and its only verb, retrieve. `svc events retrieve`, its view, the sandbox's
`/v1/events/ID` and the schemas of webhooks in the OpenAPI document are built from it.
"""

from typing import Final

from svc.service.facts import VERSIONS
from svc.service.model import (
    CREATED,
    LIVEMODE,
    TEXT,
    Action,
    Field,
    Kind,
    Resource,
    amount,
    build_id_field,
    choice,
    collection,
    group,
)

RESOURCE: Final = Resource(
    "event",
    "Event",
    "Webhook endpoints and events",
    path=collection("events"),
    headline="type",
    fields=(
        build_id_field("event"),
        Field("type", Kind("event_type"), label="Type", column=(10, 0), shown="status"),
        CREATED,
        LIVEMODE,
        Field("api_version", choice(*VERSIONS), label="API version", card=110),
        Field(
            "data",
            group(
                Field(
                    "object",
                    group(
                        Field("id", TEXT, lifted="Object", column=(40, 2), shown="id"),
                        Field("object", TEXT),
                        Field("amount", amount(0), lifted="Amount", column=(50, 3), csv="-"),
                    ),
                    label="Object",
                    shown="object",
                )
            ),
        ),
    ),
    actions=(Action("retrieve", "Retrieve an event.", "evt_3kPq0aVb7cXd9eYf1gZh2iWj"),),
)
