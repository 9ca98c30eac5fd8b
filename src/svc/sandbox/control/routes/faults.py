"""Controls that list, add and delete fault rules of the API and of webhooks.

`svc sandbox fault` and the pytest plugin call them. `sandbox.api.requests` and
`sandbox.webhooks.attempts` apply the rules (`sandbox.faults`).
"""

from collections.abc import Callable
from typing import Final, get_args

from svc.sandbox.control.call import ControlCall, ControlEndpoint, build_list
from svc.sandbox.faults import STATUSES, ConnectionFault, WebhookEffect
from svc.sandbox.faults.api import PHASES, ApiRule, Faults
from svc.sandbox.faults.rules import R, Rules
from svc.sandbox.faults.webhooks import WebhookFaults, WebhookRule
from svc.sandbox.parameters.kinds import Choice, Integer, Text
from svc.sandbox.parameters.problems import build_invalid, build_missing, resource_missing
from svc.sandbox.parameters.tables import Fields, Object, Parameter, Params
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.transaction import Transaction

_COUNT_MAX: Final = 1_000_000
_COPIES_MAX: Final = 100
_PREFIX: Final = "flt_"
_DELAY_MAX: Final = 600_000  # milliseconds
_RETRY_AFTER_MAX: Final = 10**12  # clients are tested with absurd values too


def _check_effect(effect: Params, name: str) -> None:
    """Refuses an effect that is empty, or that has both a status and a connection fault.

    A delay may stand alone or be combined with either of them.
    """
    if not effect:
        raise build_missing(f"{name}[status]")
    if "status" in effect and "connection" in effect:
        message = f"{name} may have a status or a connection, not both."
        raise build_invalid("parameters_exclusive", name, message)
    if "status" in effect and effect["status"] not in STATUSES:
        words = ", ".join(map(str, STATUSES))
        message = f"{name}[status] must be one of: {words}."
        raise build_invalid("parameter_invalid_value", f"{name}[status]", message)


_HOW_OFTEN: Final = (
    Parameter("skip", Integer(0, _COUNT_MAX)),
    Parameter("times", Integer(1, _COUNT_MAX)),
)
_API: Final[Fields] = (
    Parameter(
        "match",
        Object(
            (
                Parameter("method", Text(10)),
                Parameter("path", Text()),
                Parameter("idempotency_key", Text()),
                Parameter("api_key", Text()),
                Parameter("order", Text()),
            )
        ),
    ),
    *_HOW_OFTEN,
    Parameter("phase", Choice(PHASES)),
    Parameter(
        "effect",
        Object(
            (
                Parameter("status", Integer(400, 599)),
                Parameter("retry_after", Integer(-_RETRY_AFTER_MAX, _RETRY_AFTER_MAX)),
                Parameter("body", Text(65536)),
                Parameter("delay_ms", Integer(0, _DELAY_MAX)),
                Parameter("connection", Choice(get_args(ConnectionFault))),
            ),
            rule=_check_effect,
        ),
        required=True,
    ),
)


_WEBHOOK: Final[Fields] = (
    Parameter(
        "match", Object(tuple(Parameter(name, Text()) for name in ("type", "endpoint", "order")))
    ),
    *_HOW_OFTEN,
    Parameter("effect", Choice(get_args(WebhookEffect)), required=True),
    Parameter("count", Integer(1, _COPIES_MAX)),
    Parameter("delay_ms", Integer(0, _DELAY_MAX)),
)


def controls(faults: Faults, webhook_faults: WebhookFaults) -> tuple[ControlEndpoint, ...]:
    """The control endpoints of a sandbox's API fault rules and webhook fault rules."""
    return (
        *_over(
            "/faults", faults, _API, lambda tx, params: ApiRule(id=tx.new_id(_PREFIX), **params)
        ),
        *_over("/webhook_faults", webhook_faults, _WEBHOOK, _webhook_rule),
    )


def _over(
    path: str, rules: Rules[R], fields: Fields, make: Callable[[Transaction, Params], R]
) -> tuple[ControlEndpoint, ...]:
    async def show(call: ControlCall) -> Doc:  # noqa: ARG001  a control takes its call
        return build_list([rule.build_view() for rule in rules])

    async def add(call: ControlCall) -> Doc:
        rule = await call.run(lambda tx: make(tx, call.params))
        rules.add(rule)
        return rule.build_view()

    async def clear(call: ControlCall) -> Doc:  # noqa: ARG001  the same
        return {"object": rules.kind, "deleted": rules.remove()}

    async def remove(call: ControlCall) -> Doc:
        if not rules.remove(call.id):
            raise resource_missing("fault", call.id, "id")
        return {"id": call.id, "object": rules.kind, "deleted": True}

    return (
        ControlEndpoint("GET", path, show),
        ControlEndpoint("POST", path, add, fields),
        ControlEndpoint("DELETE", path, clear),
        ControlEndpoint("DELETE", path + "/:id", remove),
    )


def _webhook_rule(tx: Transaction, params: Params) -> WebhookRule:
    if params["effect"] == "delay" and not params.get("delay_ms"):
        raise build_missing("delay_ms")
    return WebhookRule(id=tx.new_id(_PREFIX), **params)
