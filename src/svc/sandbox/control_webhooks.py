"""Control of webhooks and events: the dashboard's endpoints, the log, sending once more."""

from collections.abc import Callable
from typing import Final

from svc.sandbox import deliveries, events, webhooks
from svc.sandbox.checks import Choice, EventType, Integer, Text
from svc.sandbox.control_call import PAGING, Call, Control, page_of, unknown_start
from svc.sandbox.documents import Doc, decode, public
from svc.sandbox.params import Field
from svc.sandbox.problems import Problem, resource_missing
from svc.sandbox.times import micros
from svc.sandbox.world import World


async def list_endpoints(call: Call) -> Doc:
    """All endpoints of the mode, newest first."""

    def found(world: World) -> list[Doc]:
        return [public(doc) for doc in reversed(world.find(webhooks.KIND))]

    return page_of((await call.engine.read(call.mode, found), False))


async def enable(call: Call) -> Doc:
    def act(world: World, endpoint: Doc) -> None:
        enabled = len(world.find(webhooks.KIND, status="enabled"))
        if endpoint["status"] != "enabled" and enabled >= webhooks.ENABLED_MAX:
            message = f"At most {webhooks.ENABLED_MAX} endpoints may be enabled in a mode."
            raise Problem(400, "webhook_endpoint_limit", message)
        webhooks.enable(world, endpoint)

    return await _change(call, act)


async def disable(call: Call) -> Doc:
    return await _change(call, webhooks.disable)


async def delete(call: Call) -> Doc:
    await _change(call, webhooks.delete)
    return {"id": call.id, "object": webhooks.KIND, "deleted": True}


async def roll_secret(call: Call) -> Doc:
    """A new secret, shown this once; the old one signs along for the grace period."""
    grace = int(call.params.get("expires_in", webhooks.GRACE_MAX_SECONDS))
    return await _change(call, lambda world, endpoint: webhooks.roll_secret(world, endpoint, grace))


async def list_events(call: Call) -> Doc:
    def found(world: World) -> tuple[list[Doc], bool]:
        rows, more = events.page(
            world.store,
            world.mode,
            micros(world.now),
            event_type=call.params.get("type"),
            limit=call.limit,
            after=call.after,
        )
        return [decode(row) for row in rows], more

    return await _page(call, "event", found)


async def list_deliveries(call: Call) -> Doc:
    equals = {name: call.params[name] for name in deliveries.FILTERS if name in call.params}

    def found(world: World) -> tuple[list[Doc], bool]:
        rows, more = deliveries.page(
            world.store, world.mode, equals=equals, limit=call.limit, after=call.after
        )
        return [row.shown(world.mode) for row in rows], more

    return await _page(call, "delivery", found)


async def resend(call: Call) -> Doc:
    """Delivers an event once more and shows how that went."""
    made = await call.engine.resend(call.mode, call.id, call.params.get("endpoint"))
    return page_of(([delivery.shown(call.mode) for delivery in made], False))


async def _change(call: Call, act: Callable[[World, Doc], object]) -> Doc:
    def change(world: World) -> Doc:
        endpoint = world.get(webhooks.KIND, call.id)
        if endpoint is None:
            raise resource_missing(webhooks.KIND, call.id, "id")
        secret = endpoint["_secret"]
        act(world, endpoint)
        fresh = endpoint["_secret"]
        return {**public(endpoint), **({"secret": fresh} if fresh != secret else {})}

    return await call.engine.run(call.mode, change)


async def _page(call: Call, kind: str, found: Callable[[World], tuple[list[Doc], bool]]) -> Doc:
    try:
        return page_of(await call.engine.read(call.mode, found))
    except KeyError:
        raise unknown_start(call.after, kind) from None


_ENDPOINT: Final = "/webhook_endpoints/{id}"
CONTROLS: Final = (
    Control("GET", "/webhook_endpoints", list_endpoints),
    Control("POST", _ENDPOINT + "/enable", enable),
    Control("POST", _ENDPOINT + "/disable", disable),
    Control("DELETE", _ENDPOINT, delete),
    Control(
        "POST",
        _ENDPOINT + "/roll_secret",
        roll_secret,
        (Field("expires_in", Integer(0, webhooks.GRACE_MAX_SECONDS)),),
    ),
    Control("GET", "/events", list_events, (Field("type", EventType()), *PAGING)),
    Control("POST", "/events/{id}/resend", resend, (Field("endpoint", Text()),)),
    Control(
        "GET",
        "/deliveries",
        list_deliveries,
        (
            Field("event", Text()),
            Field("endpoint", Text()),
            Field("status", Choice(("pending", "succeeded", "failed", "dropped"))),
            *PAGING,
        ),
    ),
)
