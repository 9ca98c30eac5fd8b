"""Delivering an event once more when the dashboard asks for it."""

from typing import Any

from svc.sandbox import deliveries, jobs, webhooks
from svc.sandbox.deliveries import Delivery
from svc.sandbox.documents import Doc
from svc.sandbox.jobs import Job
from svc.sandbox.problems import Problem, resource_missing
from svc.sandbox.times import micros
from svc.sandbox.world import World


def queue(world: World, event: str, endpoint: str | None) -> list[Job]:
    """Queues one attempt at the endpoint, or at every enabled one that takes this type.

    Raises:
        Problem: the event or endpoint is unknown, or the endpoint is disabled.
    """
    found = world.get("event", event)
    if found is None:
        raise resource_missing("event", event, "id")
    return [_queue_one(world, found, target) for target in _targets(world, found, endpoint)]


def outcome(world: World, owed: list[Job]) -> list[Delivery]:
    """The log rows of the attempts."""
    rows = [deliveries.retrieve(world.store, job.subject) for job in owed]
    return [row for row in rows if row is not None]


def _targets(world: World, event: Doc, endpoint: str | None) -> list[Doc]:
    if endpoint is None:
        enabled = world.find(webhooks.KIND, status="enabled")
        return [target for target in enabled if event["type"] in target["events"]]
    target = world.get(webhooks.KIND, endpoint)
    if target is None:
        raise resource_missing(webhooks.KIND, endpoint, "endpoint")
    if target["status"] != "enabled":
        message = f"The endpoint {endpoint} is disabled; enable it first."
        raise Problem(400, "endpoint_disabled", message, param="endpoint")
    return [target]


def _queue_one(world: World, event: Doc, endpoint: Doc) -> Job:
    now = micros(world.now)
    pending = deliveries.pending(world.store, event["id"], endpoint["id"])
    if pending is not None and pending.due <= now:
        identity = pending.id
    else:
        once: dict[str, Any] = {"step": 0}
        identity = world.queue_delivery(event, endpoint, now, once)
        if pending is not None:
            deliveries.put_before(world.store, identity, pending)
    return jobs.of_subject(world.store, jobs.ATTEMPT, identity)[0]
