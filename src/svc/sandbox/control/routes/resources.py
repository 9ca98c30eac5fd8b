"""Controls of what happens outside of the API: banks, disputes, customs, and the dashboard.

`svc sandbox settle`, `fail`, `dispute`, `decide`, `customs`, `keys`, `trigger`, `events`,
`deliveries`, `resend` and `endpoints` call them; most change an object by the steps of
`svc.sandbox.resources`. `svc events listen` and `svc keys roll` list endpoints and keys by them.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final, get_args

from svc.sandbox.clock import parse
from svc.sandbox.control import scenarios
from svc.sandbox.control.call import PAGING, ControlCall, ControlEndpoint, Unchecked, build_list
from svc.sandbox.jobs import handlers
from svc.sandbox.parameters.kinds import Amount, Choice, EventType, Integer, Text, Timestamp
from svc.sandbox.parameters.problems import (
    Problem,
    build_invalid,
    build_unexpected_state,
    build_wrong_type,
)
from svc.sandbox.parameters.tables import Parameter, Params, SandboxSettings
from svc.sandbox.resources import (
    api_keys,
    clearance,
    disputes,
    payments,
    payouts,
    refunds,
    webhook_endpoints,
)
from svc.sandbox.resources.operation import find_named
from svc.sandbox.store import DeliveryStatus, deliveries, events
from svc.sandbox.store.documents import Doc, decode, public
from svc.sandbox.store.transaction import Transaction
from svc.service import disputes as described
from svc.service.facts import WEBHOOK_SECRET_GRACE_MAX_SECONDS
from svc.service.refunds import FAILURE_REASONS

_DEBIT_REFUSED: Final = "insufficient_funds"  # what a bank says by default
_REFUND_REFUSED: Final = "unknown"
_PAYOUT_REFUSED: Final = "could_not_process"


Act = Callable[[ControlCall], Awaitable[Doc]]


def _make_change(kind: str, act: Callable[[Transaction, Doc, Params], Doc | None]) -> Act:
    """What a control does that changes the document in its path, and shows it or another."""
    return lambda call: call.change(kind, act)


def _make_settle(
    kind: str,
    status: str,
    reason: str,
    usual: str,
    finish: Callable[[Transaction, Doc, str | None], None],
) -> Act:
    """Finishes what is in a status; where it fails, for the `reason` in that parameter."""

    def act(tx: Transaction, doc: Doc, params: Params) -> None:
        _need(doc, status)
        finish(tx, doc, params.get(reason, usual) if params["to"] == "failed" else None)

    return _make_change(kind, act)


def _move_payout(tx: Transaction, payout: Doc, params: Params) -> None:
    if params["to"] == "sent":
        _need(payout, "created")
        payouts.send(tx, payout)
    elif params["to"] == "paid":
        _need(payout, "sent")
        payouts.arrive(tx, payout)
    else:
        _need(payout, "created", "sent")
        payouts.fail(tx, payout, params.get("failure_reason", _PAYOUT_REFUSED))


async def open_dispute(call: ControlCall) -> Doc:
    """The shopper disputes a captured payment."""

    def act(tx: Transaction) -> Doc:
        payment = find_named(tx, payments.KIND, call.params["payment"], "payment")
        due = call.params.get("evidence_due_by")
        if due is not None and parse(due) <= tx.now:
            message = "evidence_due_by must lie in the future."
            raise build_invalid("parameter_invalid_value", "evidence_due_by", message)
        if not disputes.can_open(tx, payment):
            message = "This payment has no captured amount left, or it is disputed already."
            raise Problem(400, "payment_not_disputable", message)
        reason = call.params.get("reason", "general")
        return public(disputes.open_dispute(tx, payment, reason, due))

    return await call.run(act)


def _decide_dispute(tx: Transaction, dispute: Doc, params: Params) -> None:
    _need(dispute, "under_review")
    disputes.close(tx, dispute, params["outcome"])


async def list_keys(call: ControlCall) -> Doc:
    return build_list(call.read(lambda tx: [public(key) for key in tx.find(api_keys.KIND)]))


class _UncheckedObject(Unchecked):
    def check(self, value: Any, name: str, settings: SandboxSettings) -> Doc:  # noqa: ARG002
        if not isinstance(value, dict):
            raise build_wrong_type(name, "an object")
        return value


def _need(doc: Doc, *statuses: str) -> None:
    if doc["status"] not in statuses:
        message = f"The {doc['object']} is {doc['status']}; it must be {' or '.join(statuses)}."
        raise build_unexpected_state(doc["object"], doc["status"], message)


def _to(*words: str) -> Parameter:
    return Parameter("to", Choice(words), required=True)


def _reason(words: Any) -> Parameter:
    return Parameter("failure_reason", Choice(tuple(words)))


async def list_endpoints(call: ControlCall) -> Doc:
    """All webhook endpoints of the mode, newest first, with the secrets that sign."""

    def shown(tx: Transaction) -> list[Doc]:
        now, secrets = tx.now_micros, webhook_endpoints.list_signing_secrets
        found = reversed(tx.find(webhook_endpoints.KIND))
        return [{**public(doc), "signing_secrets": secrets(doc, now)} for doc in found]

    return build_list(call.read(shown))


async def delete(call: ControlCall) -> Doc:
    await _make_endpoint_change(webhook_endpoints.delete)(call)
    return {"id": call.id, "object": webhook_endpoints.KIND, "deleted": True}


async def roll_secret(call: ControlCall) -> Doc:
    """Gives an endpoint a new secret, shown this once; the old one signs too for a while."""
    grace = int(call.params.get("expires_in", WEBHOOK_SECRET_GRACE_MAX_SECONDS))
    roll = _make_endpoint_change(
        lambda tx, endpoint: webhook_endpoints.roll_secret(tx, endpoint, grace)
    )
    return await roll(call)


async def list_events(call: ControlCall) -> Doc:
    kind = call.params.get("type")

    def found(tx: Transaction, limit: int, after: str | None) -> tuple[list[Doc], bool]:
        now = tx.now_micros
        rows, more = events.page(tx.store, tx.mode, now, event_type=kind, limit=limit, after=after)
        return [decode(row) for row in rows], more

    return await call.page("event", found)


async def list_deliveries(call: ControlCall) -> Doc:
    equals = {name: call.params[name] for name in deliveries.FILTERS if name in call.params}

    def found(tx: Transaction, limit: int, after: str | None) -> tuple[list[Doc], bool]:
        rows, more = deliveries.page(tx.store, tx.mode, equals=equals, limit=limit, after=after)
        return [row.build_view(tx.mode) for row in rows], more

    return await call.page("delivery", found)


async def resend(call: ControlCall) -> Doc:
    """Delivers an event once more and shows how that went."""
    made = await call.engine.resend(call.mode, call.id, call.params.get("endpoint"))
    return build_list([delivery.build_view(call.mode) for delivery in made])


def _make_endpoint_change(act: Callable[[Transaction, Doc], object]) -> Act:
    """Changes the endpoint in the path; a new secret of it is shown."""

    def change(tx: Transaction, endpoint: Doc, _: Params) -> Doc:
        secret = endpoint["_secret"]
        act(tx, endpoint)
        fresh = endpoint["_secret"]
        return {**endpoint, **({"secret": fresh} if fresh != secret else {})}

    return _make_change(webhook_endpoints.KIND, change)


_ENDPOINT: Final = "/webhook_endpoints/:id"
_WEBHOOKS: Final = (
    ControlEndpoint("GET", "/webhook_endpoints", list_endpoints),
    ControlEndpoint("POST", _ENDPOINT + "/enable", _make_endpoint_change(webhook_endpoints.enable)),
    ControlEndpoint(
        "POST", _ENDPOINT + "/disable", _make_endpoint_change(webhook_endpoints.disable)
    ),
    ControlEndpoint("DELETE", _ENDPOINT, delete),
    ControlEndpoint(
        "POST",
        _ENDPOINT + "/roll_secret",
        roll_secret,
        (Parameter("expires_in", Integer(0, WEBHOOK_SECRET_GRACE_MAX_SECONDS)),),
    ),
    ControlEndpoint("GET", "/events", list_events, (Parameter("type", EventType()), *PAGING)),
    ControlEndpoint("POST", "/events/:id/resend", resend, (Parameter("endpoint", Text()),)),
    ControlEndpoint(
        "GET",
        "/deliveries",
        list_deliveries,
        (
            Parameter("event", Text()),
            Parameter("endpoint", Text()),
            Parameter("status", Choice(get_args(DeliveryStatus))),
            *PAGING,
        ),
    ),
)


CONTROLS: Final = (
    *_WEBHOOKS,
    ControlEndpoint(
        "POST",
        "/payments/:id/transition",
        _make_settle(
            payments.KIND, "processing", "failure_code", _DEBIT_REFUSED, handlers.finish_debit
        ),
        (_to("captured", "failed"), Parameter("failure_code", Text(100))),
    ),
    ControlEndpoint(
        "POST",
        "/refunds/:id/transition",
        _make_settle(
            refunds.KIND, "pending", "failure_reason", _REFUND_REFUSED, handlers.finish_refund
        ),
        (_to("succeeded", "failed"), _reason(FAILURE_REASONS)),
    ),
    ControlEndpoint(
        "POST",
        "/payouts/:id/transition",
        _make_change(payouts.KIND, _move_payout),
        (_to("sent", "paid", "failed"), _reason(payouts.FAILURE_MESSAGES)),
    ),
    ControlEndpoint(
        "POST",
        "/disputes",
        open_dispute,
        (
            Parameter("payment", Text(), required=True),
            Parameter("reason", Choice(described.REASONS)),
            Parameter("evidence_due_by", Timestamp()),
        ),
    ),
    ControlEndpoint(
        "POST",
        "/disputes/:id/decide",
        _make_change(disputes.KIND, _decide_dispute),
        (Parameter("outcome", Choice(described.RESOURCE.final), required=True),),
    ),
    ControlEndpoint(
        "POST",
        "/orders/:id/customs",
        _make_change(
            clearance.KIND, lambda tx, order, params: clearance.charge(tx, order, params["charged"])
        ),
        (Parameter("charged", Amount(0), required=True),),
    ),
    ControlEndpoint("GET", "/keys", list_keys),
    ControlEndpoint(
        "POST",
        "/keys",
        lambda call: call.run(lambda tx: api_keys.create(tx, call.params)),
        api_keys.CREATE,
    ),
    ControlEndpoint(
        "POST", "/keys/:id/roll", _make_change(api_keys.KIND, api_keys.roll), api_keys.ROLL
    ),
    ControlEndpoint(
        "POST",
        "/events/trigger",
        lambda call: call.run(
            lambda tx: scenarios.trigger(tx, call.params["type"], call.params.get("overrides", {}))
        ),
        (Parameter("type", EventType(), required=True), Parameter("overrides", _UncheckedObject())),
    ),
)
