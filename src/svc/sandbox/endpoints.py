"""Registering webhook endpoints; `webhooks` keeps and serves them."""

from typing import Final

from svc.sandbox import webhooks
from svc.sandbox.checks import EventType, Text, Url
from svc.sandbox.documents import Doc, public
from svc.sandbox.params import Field, ListOf, Params
from svc.sandbox.problems import Problem
from svc.sandbox.world import World

_NAMES_MAX: Final = 1000  # entries of the list; repeated names are merged

CREATE: Final = (
    Field("url", Url(), required=True),
    Field("events", ListOf(EventType(), _NAMES_MAX), required=True),
    Field("description", Text(200)),
)


def create(world: World, params: Params) -> Doc:
    """Registers an endpoint for the event types named; a type named twice counts once."""
    if len(world.find(webhooks.KIND, status="enabled")) >= webhooks.ENABLED_MAX:
        message = f"At most {webhooks.ENABLED_MAX} endpoints can be enabled in a mode."
        raise Problem(400, "webhook_endpoint_limit", message)
    return webhooks.new_endpoint(
        world,
        url=params["url"],
        events=list(dict.fromkeys(params["events"])),
        description=params.get("description"),
    )


def created_view(endpoint: Doc) -> Doc:
    """The answer to a registration, the only one that shows the signing secret."""
    shown: Doc = {}
    for name, value in public(endpoint).items():
        shown[name] = value
        if name == "events":
            shown["secret"] = endpoint["_secret"]
    return shown
