"""The controls over the API's fault rules (contract F.6)."""

from typing import Final

from svc.sandbox.checks import Choice, Integer, Text
from svc.sandbox.control_call import Call, Control, page_of
from svc.sandbox.documents import Doc
from svc.sandbox.faults import CONNECTIONS, PHASES, STATUSES, Faults, Rule
from svc.sandbox.params import Field, Object, Params
from svc.sandbox.problems import invalid, missing, resource_missing
from svc.sandbox.world import World

_COUNT_MAX: Final = 1_000_000
_DELAY_MAX: Final = 600_000  # milliseconds
_RETRY_AFTER_MAX: Final = 10**12  # clients are tested with absurd values too


def _one_effect(effect: Params, name: str) -> None:
    """An effect is a delay, an error status or a broken connection; a delay goes with both."""
    if not effect:
        raise missing(f"{name}[status]")
    if "status" in effect and "connection" in effect:
        message = f"{name} has either a status or a connection."
        raise invalid("parameters_exclusive", name, message)
    if "status" in effect and effect["status"] not in STATUSES:
        words = ", ".join(map(str, STATUSES))
        message = f"{name}[status] must be one of: {words}."
        raise invalid("parameter_invalid_value", f"{name}[status]", message)


_FIELDS: Final = (
    Field(
        "match",
        Object(
            (
                Field("method", Text(10)),
                Field("path", Text()),
                Field("idempotency_key", Text()),
            )
        ),
    ),
    Field("skip", Integer(0, _COUNT_MAX)),
    Field("times", Integer(1, _COUNT_MAX)),
    Field("phase", Choice(PHASES)),
    Field(
        "effect",
        Object(
            (
                Field("status", Integer(400, 599)),
                Field("retry_after", Integer(-_RETRY_AFTER_MAX, _RETRY_AFTER_MAX)),
                Field("body", Text(65536)),
                Field("delay_ms", Integer(0, _DELAY_MAX)),
                Field("connection", Choice(CONNECTIONS)),
            ),
            rule=_one_effect,
        ),
        required=True,
    ),
)


def controls(faults: Faults) -> tuple[Control, ...]:
    """The controls over one set of rules."""

    async def show(call: Call) -> Doc:  # noqa: ARG001  a control takes its call
        return page_of(([rule.shown() for rule in faults.every()], False))

    async def add(call: Call) -> Doc:
        rule = await call.engine.run(call.mode, lambda world: _rule(world, call.params))
        faults.add(rule)
        return rule.shown()

    async def clear(call: Call) -> Doc:  # noqa: ARG001  the same
        return {"object": "fault", "deleted": faults.remove()}

    async def remove(call: Call) -> Doc:
        if not faults.remove(call.id):
            raise resource_missing("fault", call.id, "id")
        return {"id": call.id, "object": "fault", "deleted": True}

    return (
        Control("GET", "/faults", show),
        Control("POST", "/faults", add, _FIELDS),
        Control("DELETE", "/faults", clear),
        Control("DELETE", "/faults/{id}", remove),
    )


def _rule(world: World, params: Params) -> Rule:
    return Rule(
        id=world.new_id("flt_"),
        phase=params.get("phase", "before"),
        effect=params["effect"],
        match=params.get("match", {}),
        skip=params.get("skip", 0),
        times=params.get("times", 1),
    )
