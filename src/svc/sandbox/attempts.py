"""Webhook attempts: what is sent, and what follows from the answer (contract E, promise R83)."""

from dataclasses import dataclass

from svc.sandbox import deliveries, events, jobs, webhooks
from svc.sandbox.deliveries import Delivery
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


def prepare(world: World, job: Job, wall: int) -> Attempt | None:
    """Builds and signs the request of a due attempt; None if nothing is owed any more.

    `world.now` is the attempt's start; `wall` the real time in unix seconds, which signs unless
    the setting `signature_time` is `virtual`.
    """
    delivery = deliveries.retrieve(world.store, job.subject)
    endpoint = world.get(webhooks.KIND, job.lane)
    body = events.body(world.store, delivery.event) if delivery else None
    if delivery is None or delivery.status != "pending" or endpoint is None or body is None:
        return None
    started = micros(world.now)
    virtual = world.settings["signature_time"] == "virtual"
    signed_at = started // SECOND if virtual else wall
    secrets = webhooks.signing_secrets(endpoint, started)
    headers = (
        ("Content-Type", "application/json; charset=utf-8"),
        ("User-Agent", USER_AGENT),
        (SIGNATURE_HEADER, header_value(body, secrets, signed_at)),
        (EVENT_ID_HEADER, delivery.event),
        (DELIVERY_ID_HEADER, delivery.id),
        (ATTEMPT_HEADER, str(delivery.attempt)),
    )
    url = endpoint["url"]
    allowed = webhooks.is_local(url) or world.settings["allow_remote_webhooks"]
    return Attempt(job, delivery, started, Outgoing(url, headers, body), allowed)


def record(world: World, attempt: Attempt, reply: Reply) -> None:
    """Writes the outcome down and decides what follows, in one transaction with the job's end."""
    owed = jobs.finish(world.store, attempt.job.seq)
    deliveries.finish(
        world.store,
        attempt.delivery.id,
        status="succeeded" if reply.accepted else "failed",
        started=attempt.started,
        code=reply.code,
        error=reply.error,
        ms=reply.ms,
    )
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
    jobs.finish(world.store, job.seq)


def retry_delay(step: int) -> int:
    """Seconds from the start of attempt `step` to the start of the next (spec: Delivery)."""
    if step <= len(WEBHOOK_RETRY_DELAYS):
        return WEBHOOK_RETRY_DELAYS[step - 1]
    return WEBHOOK_RETRY_INTERVAL


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
