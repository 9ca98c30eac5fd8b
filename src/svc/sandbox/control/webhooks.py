"""Control of webhooks and events: the dashboard's endpoints, the log, sending once more."""

from collections.abc import Callable
from typing import Final

from svc.sandbox.clock import micros
from svc.sandbox.control.call import PAGING, ControlCall, ControlEndpoint, whole_list
from svc.sandbox.parameters.kinds import Choice, EventType, Integer, Text
from svc.sandbox.parameters.tables import Parameter
from svc.sandbox.resources import webhook_endpoints
from svc.sandbox.store import deliveries, events
from svc.sandbox.store.documents import Doc, decode, public
from svc.sandbox.store.transaction import Transaction


async def list_endpoints(call: ControlCall) -> Doc:
    """All endpoints of the mode, newest first."""
    found = await call.read(lambda tx: tx.find(webhook_endpoints.KIND))
    return whole_list([public(doc) for doc in reversed(found)])


async def enable(call: ControlCall) -> Doc:
    return await _change(call, webhook_endpoints.enable)


async def disable(call: ControlCall) -> Doc:
    return await _change(call, webhook_endpoints.disable)


async def delete(call: ControlCall) -> Doc:
    await _change(call, webhook_endpoints.delete)
    return {"id": call.id, "object": webhook_endpoints.KIND, "deleted": True}


async def roll_secret(call: ControlCall) -> Doc:
    """A new secret, shown this once; the old one signs along for the grace period."""
    grace = int(call.params.get("expires_in", webhook_endpoints.GRACE_MAX_SECONDS))
    return await _change(
        call, lambda tx, endpoint: webhook_endpoints.roll_secret(tx, endpoint, grace)
    )


async def list_events(call: ControlCall) -> Doc:
    kind = call.params.get("type")

    def found(tx: Transaction, limit: int, after: str | None) -> tuple[list[Doc], bool]:
        now = micros(tx.now)
        rows, more = events.page(tx.store, tx.mode, now, event_type=kind, limit=limit, after=after)
        return [decode(row) for row in rows], more

    return await call.page("event", found)


async def list_deliveries(call: ControlCall) -> Doc:
    equals = {name: call.params[name] for name in deliveries.FILTERS if name in call.params}

    def found(tx: Transaction, limit: int, after: str | None) -> tuple[list[Doc], bool]:
        rows, more = deliveries.page(tx.store, tx.mode, equals=equals, limit=limit, after=after)
        return [row.shown(tx.mode) for row in rows], more

    return await call.page("delivery", found)


async def resend(call: ControlCall) -> Doc:
    """Delivers an event once more and shows how that went."""
    made = await call.engine.resend(call.mode, call.id, call.params.get("endpoint"))
    return whole_list([delivery.shown(call.mode) for delivery in made])


async def _change(call: ControlCall, act: Callable[[Transaction, Doc], object]) -> Doc:
    def change(tx: Transaction) -> Doc:
        endpoint = tx.named(webhook_endpoints.KIND, call.id)
        secret = endpoint["_secret"]
        act(tx, endpoint)
        fresh = endpoint["_secret"]
        return {**public(endpoint), **({"secret": fresh} if fresh != secret else {})}

    return await call.run(change)


_ENDPOINT: Final = "/webhook_endpoints/{id}"
CONTROLS: Final = (
    ControlEndpoint("GET", "/webhook_endpoints", list_endpoints),
    ControlEndpoint("POST", _ENDPOINT + "/enable", enable),
    ControlEndpoint("POST", _ENDPOINT + "/disable", disable),
    ControlEndpoint("DELETE", _ENDPOINT, delete),
    ControlEndpoint(
        "POST",
        _ENDPOINT + "/roll_secret",
        roll_secret,
        (Parameter("expires_in", Integer(0, webhook_endpoints.GRACE_MAX_SECONDS)),),
    ),
    ControlEndpoint("GET", "/events", list_events, (Parameter("type", EventType()), *PAGING)),
    ControlEndpoint("POST", "/events/{id}/resend", resend, (Parameter("endpoint", Text()),)),
    ControlEndpoint(
        "GET",
        "/deliveries",
        list_deliveries,
        (
            Parameter("event", Text()),
            Parameter("endpoint", Text()),
            Parameter("status", Choice(("pending", "succeeded", "failed", "dropped"))),
            *PAGING,
        ),
    ),
)
