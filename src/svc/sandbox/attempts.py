"""Webhook attempts: what is sent, and what follows from the answer (promise R83)."""

from dataclasses import dataclass, replace

from svc.sandbox import deliveries, events, jobs, webhooks
from svc.sandbox.deliveries import DELIVERY_PREFIX, Delivery
from svc.sandbox.delivery import Outgoing, Reply
from svc.sandbox.documents import Doc
from svc.sandbox.jobs import Job
from svc.sandbox.times import SECOND, micros
from svc.sandbox.world import World
from svc.signature import header_value
from svc.spec import (
    ATTEMPT_HEADER,
    DELIVERY_ID_HEADER,
    EVENT_ID_HEADER,
    SIGNATURE_HEADER,
    WEBHOOK_RETRY_DELAYS,
    WEBHOOK_RETRY_INTERVAL,
    WEBHOOK_RETRY_WINDOW_SECONDS,
)

USER_AGENT = "Svc-Webhooks/1.0"
_ONCE = 0  # the step of an extra attempt, which is not retried


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt about to be made; `started` is its moment on the sandbox's clock.

    `allowed` is false for a receiver outside this machine, unless the settings allow it.
    """

    job: Job
    delivery: Delivery
    started: int
    outgoing: Outgoing
    allowed: bool


def prepare(world: World, job: Job, wall: int, *, age: int = 0) -> Attempt | None:
    """Builds and signs the request of a due attempt; None if nothing is owed any more.

    `world.now` is the attempt's start; `wall` the real time in unix seconds, which signs unless
    the setting `signature_time` is `virtual`. The signature is `age` seconds older than that.
    """
    delivery = deliveries.retrieve(world.store, job.subject)
    endpoint = world.get(webhooks.KIND, job.lane)
    body = events.body(world.store, delivery.event) if delivery else None
    if delivery is None or delivery.status != "pending" or endpoint is None or body is None:
        return None
    url = endpoint["url"]
    allowed = webhooks.is_local(url) or world.settings["allow_remote_webhooks"]
    outgoing = _request(world, endpoint, delivery, body, _signed_at(world, wall) - age)
    return Attempt(job, delivery, micros(world.now), outgoing, allowed)


def copy_of(world: World, attempt: Attempt, number: int, wall: int) -> Attempt | None:
    """The same event once more, under a delivery id of its own; None if its endpoint is gone."""
    endpoint = world.get(webhooks.KIND, attempt.job.lane)
    if endpoint is None:
        return None
    identity = world.ids.derived(DELIVERY_PREFIX, attempt.delivery.id, number)
    delivery = replace(attempt.delivery, id=identity)
    body, signed_at = attempt.outgoing.body, _signed_at(world, wall)
    outgoing = _request(world, endpoint, delivery, body, signed_at)
    return replace(attempt, delivery=delivery, outgoing=outgoing, started=micros(world.now))


def record_copy(world: World, attempt: Attempt, reply: Reply) -> None:
    """Writes the outcome of a copy down; nothing follows from it."""
    deliveries.add_made(world.store, world.mode, attempt.delivery)
    _finish(world, attempt, reply)


def record(world: World, attempt: Attempt, reply: Reply) -> None:
    """Writes the outcome down and decides what follows, in one transaction with the job's end."""
    owed = jobs.finish(world.store, attempt.job)
    _finish(world, attempt, reply)
    endpoint = world.get(webhooks.KIND, attempt.delivery.endpoint)
    if endpoint is None:
        return
    if reply.accepted:
        webhooks.note_success(world, endpoint)
        deliveries.drop(world.store, endpoint["id"], attempt.delivery.event)
        return
    webhooks.note_failure(world, endpoint)
    if owed:
        _follow_up(world, attempt, endpoint)


def give_up(world: World, job: Job) -> None:
    """Ends the job of an attempt that nobody waits for: its endpoint or event is gone."""
    jobs.finish(world.store, job)


def retry_delay(step: int) -> int:
    """Seconds from the start of attempt `step` to the start of the next (spec: Delivery)."""
    if step <= len(WEBHOOK_RETRY_DELAYS):
        return WEBHOOK_RETRY_DELAYS[step - 1]
    return WEBHOOK_RETRY_INTERVAL


def _signed_at(world: World, wall: int) -> int:
    virtual = world.settings["signature_time"] == "virtual"
    return micros(world.now) // SECOND if virtual else wall


def _request(
    world: World, endpoint: Doc, delivery: Delivery, body: bytes, signed_at: int
) -> Outgoing:
    secrets = webhooks.signing_secrets(endpoint, micros(world.now))
    headers = (
        ("Content-Type", "application/json; charset=utf-8"),
        ("User-Agent", USER_AGENT),
        (SIGNATURE_HEADER, header_value(body, secrets, signed_at)),
        (EVENT_ID_HEADER, delivery.event),
        (DELIVERY_ID_HEADER, delivery.id),
        (ATTEMPT_HEADER, str(delivery.attempt)),
    )
    return Outgoing(endpoint["url"], headers, body)


def _finish(world: World, attempt: Attempt, reply: Reply) -> None:
    deliveries.finish(
        world.store,
        attempt.delivery.id,
        status="succeeded" if reply.accepted else "failed",
        started=attempt.started,
        code=reply.code,
        error=reply.error,
        ms=reply.ms,
    )


def _follow_up(world: World, attempt: Attempt, endpoint: Doc) -> None:
    step = attempt.job.args["step"]
    if step == _ONCE:
        return
    first = attempt.job.args.get("first", attempt.started)
    due = attempt.started + retry_delay(step) * SECOND
    if due - first > WEBHOOK_RETRY_WINDOW_SECONDS * SECOND:
        webhooks.note_exhausted(world, endpoint, attempt.delivery.event)
        return
    event = {"id": attempt.delivery.event, "type": attempt.delivery.type}
    world.queue_delivery(event, endpoint, due, {"step": step + 1, "first": first})
    deliveries.set_next(world.store, attempt.delivery.id, due)
