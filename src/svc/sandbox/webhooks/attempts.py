"""Makes each webhook attempt: builds, signs, sends, and decides when to try again (R83).

`jobs.runner` has the attempts of its jobs made by `WebhookAttempts`, changed as fault rules say and
sent by a `WebhookSender`. The `engine` queues attempts for `svc sandbox resend`, and has badly
signed ones built for `lint`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from svc.sandbox.clock import SECOND, VirtualClock
from svc.sandbox.faults import chaos
from svc.sandbox.faults.webhooks import WebhookFaults, WebhookRule
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.resources import webhook_endpoints
from svc.sandbox.resources.operation import find_named
from svc.sandbox.store import DeliveryStatus, deliveries, events, jobs
from svc.sandbox.store.commit import GroupCommit
from svc.sandbox.store.deliveries import DELIVERY_PREFIX, DeliveryRow
from svc.sandbox.store.documents import Doc, KnownDoc, decode
from svc.sandbox.store.jobs import Job
from svc.sandbox.store.transaction import Transaction
from svc.sandbox.webhooks.sender import Outgoing, ReceiverReply, WebhookSender
from svc.service.facts import (
    ATTEMPT_HEADER,
    DELIVERY_ID_HEADER,
    EVENT_ID_HEADER,
    SIGNATURE_HEADER,
    WEBHOOK_RETRY_DELAYS,
    WEBHOOK_RETRY_INTERVAL,
    WEBHOOK_RETRY_WINDOW_SECONDS,
)
from svc.signature import header_value

USER_AGENT = "Svc-Webhooks/1.0"
_LATE = 2 * SECOND  # an attempt that is as late as this counts from when it was really made
_ONCE = 0  # the step of an extra attempt, which is not retried


class PreparedAttempt(NamedTuple):
    """One attempt about to be made; `started` is its moment on the sandbox's clock.

    `chain` says which attempt it is and when the first one was.
    `allowed` is false for a receiver outside this machine, unless the settings allow it.
    """

    job: Job
    chain: dict[str, Any]
    delivery: DeliveryRow
    started: int
    outgoing: Outgoing
    allowed: bool


@dataclass(slots=True)
class WebhookAttempts:
    """Makes attempts; `made` counts them, copies included."""

    groups: GroupCommit
    clock: VirtualClock
    sender: WebhookSender
    wall: Callable[[], float]
    faults: WebhookFaults
    made: int = 0

    async def make(self, job: Job, *, at_once: bool) -> None:
        """Makes the attempt of a job and writes down how it went; with `at_once` nothing holds it.

        Copies that a fault rule asks for are made after it.
        """
        rule = self._rule_for(job, at_once=at_once)
        async with self.faults.turn(rule):
            attempt = await self._make(job, rule)
            if rule is not None and attempt is not None:
                await self._send_copies(attempt, rule)

    def _rule_for(self, job: Job, *, at_once: bool) -> WebhookRule | None:
        """The fault rule for an attempt that is still owed, or what chaos makes of it."""
        chaotic = self.groups.read(job.mode, lambda tx: tx.is_set("chaos"))
        if not (chaotic or any(self.faults)):
            return None
        found = self.groups.read(job.mode, lambda tx: subject_of(tx, job.subject))
        if found is None or found[0].status != "pending":
            return None
        delivery, order, share = found
        rule = self.faults.pick(delivery.type, job.lane, order, at_once=at_once)
        return rule or chaos.rule_for(share, delivery.id)

    async def _make(self, job: Job, rule: WebhookRule | None) -> PreparedAttempt | None:
        # Its due moment, unless it was held or the sandbox was down.
        now, due = self.clock.now(), job.due
        start, age = (
            now if now - due >= _LATE or due > now else due,
            0 if rule is None else rule.age,
        )
        wall = int(self.wall())
        attempt = self.groups.read(job.mode, lambda tx: prepare(tx, job, wall, age=age), start)
        if attempt is None:
            # No receiver is left for it: its endpoint or event is gone.
            await self.groups.run(job.mode, lambda tx: jobs.finish(tx.store, job))
            return None
        reply = await self._send(attempt, rule)
        await self.groups.run(job.mode, lambda tx: record(tx, attempt, reply), start)
        self.made += 1
        return attempt

    async def _send_copies(self, attempt: PreparedAttempt, rule: WebhookRule) -> None:
        for number in range(rule.copies):
            await self.faults.pause(rule)
            wall = int(self.wall())
            copying = partial(copy_of, attempt=attempt, number=number, wall=wall)
            copy = self.groups.read(attempt.job.mode, copying)
            if copy is None:
                return
            recording = partial(record_copy, attempt=copy, reply=await self._send(copy, None))
            await self.groups.run(attempt.job.mode, recording)
            self.made += 1

    async def _send(self, attempt: PreparedAttempt, rule: WebhookRule | None) -> ReceiverReply:
        """The one place through which every request to a receiver goes."""
        if not attempt.allowed:
            return ReceiverReply(None, "remote_not_allowed", 0)
        if rule is not None and rule.effect == "drop":
            return ReceiverReply(None, "dropped_by_fault_rule", 0)
        if rule is not None and rule.effect == "bad_signature":
            return await self.sender.send(with_bad_signature(attempt.outgoing))
        return await self.sender.send(attempt.outgoing)


def prepare(tx: Transaction, job: Job, wall: int, *, age: int = 0) -> PreparedAttempt | None:
    """Builds and signs the request of a due attempt; None if nothing is owed any more.

    `tx.now` is the attempt's start; `wall` the real time in unix seconds, which signs unless
    the setting `signature_time` is `virtual`. The signature is `age` seconds older than that.
    """
    delivery = deliveries.retrieve(tx.store, job.subject)
    endpoint = tx.get_cached(webhook_endpoints.KIND, job.lane)
    body = events.body(tx.store, delivery.event) if delivery else None
    if delivery is None or delivery.status != "pending" or endpoint is None or body is None:
        return None
    allowed = _is_reached(tx, endpoint["url"])
    outgoing = _request(tx, endpoint, delivery, body, wall, age)
    return PreparedAttempt(job, job.args, delivery, tx.now_micros, outgoing, allowed)


def subject_of(tx: Transaction, identity: str) -> tuple[DeliveryRow, str | None, float] | None:
    """A delivery, the order that its event is about, and the chaos that holds for that one."""
    delivery = deliveries.retrieve(tx.store, identity)
    body = events.body(tx.store, delivery.event) if delivery else None
    if delivery is None or body is None:
        return None
    changed = decode(body)["data"]["object"]
    named = changed["id"] if changed["object"] == "order" else changed.get("order")
    order = tx.get("order", named) if named else None
    if order is not None:
        tx.act_for(order.get("_key"), order["id"])
    return delivery, named, tx.settings["chaos"]


def copy_of(
    tx: Transaction, attempt: PreparedAttempt, number: int, wall: int
) -> PreparedAttempt | None:
    """Builds a copy of an attempt with a delivery id of its own; None if its endpoint is gone."""
    endpoint = tx.get(webhook_endpoints.KIND, attempt.job.lane)
    if endpoint is None:
        return None
    identity = tx.ids.derive(DELIVERY_PREFIX, attempt.delivery.id, number)
    delivery = attempt.delivery._replace(id=identity)
    outgoing = _request(tx, endpoint, delivery, attempt.outgoing.body, wall)
    return attempt._replace(delivery=delivery, outgoing=outgoing, started=tx.now_micros)


def record_copy(tx: Transaction, attempt: PreparedAttempt, reply: ReceiverReply) -> None:
    """Writes the outcome of a copy down; nothing follows from it."""
    deliveries.add_made(tx.store, tx.mode, attempt.delivery)
    _finish(tx, attempt, reply)


def record(tx: Transaction, attempt: PreparedAttempt, reply: ReceiverReply) -> None:
    """Writes the outcome down and decides what follows, in one transaction with the job's end."""
    owed = jobs.finish(tx.store, attempt.job)
    _finish(tx, attempt, reply)
    identity = attempt.delivery.endpoint
    endpoint = tx.get_cached(webhook_endpoints.KIND, identity)
    if endpoint is None:
        return
    if reply.accepted:
        webhook_endpoints.note_success(tx, endpoint)
        deliveries.drop(tx.store, identity, attempt.delivery.event)
        return
    endpoint = tx.stored(webhook_endpoints.KIND, identity)
    webhook_endpoints.note_failure(tx, endpoint)
    if owed:
        _follow_up(tx, attempt, endpoint)


def retry_delay(step: int) -> int:
    """Seconds from the start of attempt `step` to the start of the next (spec: Delivery)."""
    if step <= len(WEBHOOK_RETRY_DELAYS):
        return WEBHOOK_RETRY_DELAYS[step - 1]
    return WEBHOOK_RETRY_INTERVAL


def _request(
    tx: Transaction,
    endpoint: KnownDoc,
    delivery: DeliveryRow,
    body: bytes,
    wall: int,
    age: int = 0,
) -> Outgoing:
    virtual = tx.settings["signature_time"] == "virtual"
    signed_at = (tx.now_micros // SECOND if virtual else wall) - age
    secrets = webhook_endpoints.list_signing_secrets(endpoint, tx.now_micros)
    headers = (
        ("Content-Type", "application/json; charset=utf-8"),
        ("User-Agent", USER_AGENT),
        (SIGNATURE_HEADER, header_value(body, secrets, signed_at)),
        (EVENT_ID_HEADER, delivery.event),
        (DELIVERY_ID_HEADER, delivery.id),
        (ATTEMPT_HEADER, str(delivery.attempt)),
    )
    url = endpoint["url"]
    trusts_any = tx.settings["allow_self_signed_webhooks"] and webhook_endpoints.is_local(url)
    return Outgoing(url, headers, body, trusts_any=trusts_any)


def _finish(tx: Transaction, attempt: PreparedAttempt, reply: ReceiverReply) -> None:
    status: DeliveryStatus = "succeeded" if reply.accepted else "failed"
    answer = (reply.code, reply.error, reply.ms)
    deliveries.finish(tx.store, attempt.delivery.id, status, attempt.started, answer)


def _follow_up(tx: Transaction, attempt: PreparedAttempt, endpoint: Doc) -> None:
    step = attempt.chain["step"]
    if step == _ONCE:
        return
    first = attempt.chain.get("first", attempt.started)
    due = attempt.started + retry_delay(step) * SECOND
    if due - first > WEBHOOK_RETRY_WINDOW_SECONDS * SECOND:
        webhook_endpoints.note_exhausted(tx, endpoint, attempt.delivery.event)
        return
    event = {"id": attempt.delivery.event, "type": attempt.delivery.type}
    tx.queue_delivery(event, endpoint, due, {"step": step + 1, "first": first})
    deliveries.set_next(tx.store, attempt.delivery.id, due)


def build_badly_signed(tx: Transaction, wall: int) -> list[Outgoing]:
    """For each enabled receiver that may be sent to, its latest event with a wrong signature.

    One that has been sent nothing yet is left out: there is no event that it is to know.
    """
    made = []
    for endpoint in tx.find(webhook_endpoints.KIND, status="enabled"):
        equals = {"endpoint": endpoint["id"]}
        rows, _ = deliveries.page(tx.store, tx.mode, equals=equals, limit=1, after=None)
        body = events.body(tx.store, rows[0].event) if rows else None
        if body is not None and _is_reached(tx, endpoint["url"]):
            again = rows[0]._replace(id=tx.ids.derive(DELIVERY_PREFIX, rows[0].id, "lint"))
            outgoing = _request(tx, endpoint, again, body, wall)
            made.append(with_bad_signature(outgoing))
    return made


def _is_reached(tx: Transaction, url: str) -> bool:
    """Whether webhooks go to an address: to this machine alone, unless the setting allows more."""
    return bool(webhook_endpoints.is_local(url) or tx.settings["allow_remote_webhooks"])


def with_bad_signature(outgoing: Outgoing) -> Outgoing:
    """The same request; the last hex digit of every signature is another one."""
    headers = tuple(
        (name, _spoil(value) if name == SIGNATURE_HEADER else value)
        for name, value in outgoing.headers
    )
    return outgoing._replace(headers=headers)


def _spoil(header: str) -> str:
    stamp, *signatures = header.split(",")
    others = (text[:-1] + ("1" if text.endswith("0") else "0") for text in signatures)
    return ",".join([stamp, *others])


def queue(tx: Transaction, event: str, endpoint: str | None) -> list[Job]:
    """Queues one attempt at the endpoint, or at every enabled one that takes this type.

    Raises:
        Problem: the event or endpoint is unknown, or the endpoint is disabled or does not take it.
    """
    found = find_named(tx, "event", event)
    return [_queue_one(tx, found, target) for target in _targets(tx, found, endpoint)]


def outcome(tx: Transaction, owed: list[Job]) -> list[DeliveryRow]:
    """The log rows of the attempts."""
    rows = [deliveries.retrieve(tx.store, job.subject) for job in owed]
    return [row for row in rows if row is not None]


def _targets(tx: Transaction, event: Doc, endpoint: str | None) -> list[Doc]:
    if endpoint is None:
        enabled = tx.find(webhook_endpoints.KIND, status="enabled")
        found = [target for target in enabled if event["type"] in target["events"]]
        if not found:
            message = f"Nothing was sent: no enabled endpoint takes {event['type']}."
            raise Problem(400, "endpoint_missing", message)
        return found
    target = find_named(tx, webhook_endpoints.KIND, endpoint, "endpoint")
    if target["status"] != "enabled":
        message = f"The endpoint {endpoint} is disabled; enable it first."
        raise Problem(400, "endpoint_disabled", message, param="endpoint")
    if event["type"] not in target["events"]:
        message = f"Nothing was sent: the endpoint {endpoint} does not take {event['type']}."
        raise Problem(400, "endpoint_not_subscribed", message, param="endpoint")
    return [target]


def _queue_one(tx: Transaction, event: Doc, endpoint: Doc) -> Job:
    now = tx.now_micros
    pending = deliveries.find_pending(tx.store, event["id"], endpoint["id"])
    if pending is not None and pending.due <= now:
        identity = pending.id
    else:
        identity = tx.queue_delivery(event, endpoint, now, {"step": _ONCE})
        if pending is not None:
            deliveries.put_before(tx.store, identity, pending)
    return jobs.of_subject(tx.store, jobs.ATTEMPT, identity)[0]
