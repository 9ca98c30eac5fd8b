"""Control of time, balances and the sandbox as a whole: health, clock, advance, reset, settings."""

from dataclasses import dataclass
from typing import Any, Final

from starlette.routing import Route

from svc import __version__
from svc.sandbox.clock import EPOCH, SECOND, micros, moment, parse, text
from svc.sandbox.control import webhooks
from svc.sandbox.control.call import (
    PAGING,
    ControlCall,
    ControlEndpoint,
    page_of,
    route,
    unknown_start,
)
from svc.sandbox.engine import Engine
from svc.sandbox.http.exchange import STATE
from svc.sandbox.jobs.runner import Counts
from svc.sandbox.parameters.kinds import Choice, Currency, Integer, Text, Timestamp
from svc.sandbox.parameters.problems import Problem, invalid, missing
from svc.sandbox.parameters.schema import Schema
from svc.sandbox.parameters.tables import NO_CODES, Codes, Kind, Parameter, Settings
from svc.sandbox.store import settings
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.transaction import Transaction
from svc.spec import AMOUNT_MAX

_SEED_MAX: Final = 2**63 - 1
_LAST: Final = "9000-01-01T00:00:00Z"  # dates end in 9999, and what is scheduled must fit too
_JUMP_MAX: Final = (parse(_LAST) - EPOCH).days * 86400


@dataclass(frozen=True, slots=True)
class _Anything(Kind):
    """A value that is looked at elsewhere."""

    def check(self, value: Any, name: str, settings: Settings) -> Any:  # noqa: ARG002
        return value

    def codes(self) -> Codes:
        return NO_CODES

    def schema(self, empty: Schema) -> Schema:  # noqa: ARG002
        return {}


def shown_health(engine: Engine) -> Doc:
    return {
        "object": "sandbox",
        "version": __version__,
        "now": text(moment(engine.clock.now())),
        "persisted": engine.persisted,
    }


def shown_clock(engine: Engine) -> Doc:
    due = engine.runner.next_due()
    return {
        "object": "clock",
        "mode": engine.clock.mode,
        "now": text(moment(engine.clock.now())),
        "next_job_at": None if due is None else text(moment(due)),
        "broken_jobs": engine.runner.broken,
        **_shown_advance(engine),
    }


def _shown_advance(engine: Engine) -> Doc:
    """Where the clock is being turned to, and how far that has come; both null at rest."""
    if engine.runner.advancing is None:
        return {"advancing_to": None, "advanced": None}
    to, counts = engine.runner.advancing
    return {
        "advancing_to": text(moment(to)) if isinstance(to, int) else to,
        "advanced": _shown_counts(counts),
    }


def _shown_counts(counts: Counts) -> Doc:
    return {"jobs": counts.jobs, "events": counts.events, "deliveries": counts.deliveries}


async def health(call: ControlCall) -> Doc:
    return shown_health(call.engine)


async def clock(call: ControlCall) -> Doc:
    return shown_clock(call.engine)


async def set_clock(call: ControlCall) -> Doc:
    if not call.params:
        raise missing("mode")
    now = call.params.get("now")
    to = None if now is None else _target(call.engine, now, "now")
    mode = call.params.get("mode", call.engine.clock.mode)
    await call.engine.set_clock(mode, to, call.gone)
    return shown_clock(call.engine)


async def advance(call: ControlCall) -> Doc:
    """Moves the clock and says what happened on the way."""
    if not call.params:
        raise missing("seconds")
    if len(call.params) > 1:
        message = "Give one of seconds, to and until."
        raise Problem(400, "parameters_exclusive", message, param=min(call.params))
    to = _to(call)
    until = call.params.get("until")
    counts = await call.engine.runner.advance(to=to, until=until, gone=call.gone)
    return {**shown_clock(call.engine), **_shown_counts(counts)}


async def reset(call: ControlCall) -> Doc:
    await call.engine.reset(seed=call.params.get("seed"), fixture=call.params.get("fixture"))
    return shown_health(call.engine)


async def export(call: ControlCall) -> Doc:
    return await call.engine.export()


async def restore(call: ControlCall) -> Doc:
    await call.engine.restore(call.params)
    return shown_health(call.engine)


async def read_settings(call: ControlCall) -> Doc:
    return {"object": "settings", **call.engine.settings}


async def change_settings(call: ControlCall) -> Doc:
    await call.engine.run(call.mode, lambda tx: tx.update_settings(call.params))
    call.engine.runner.wake()
    return await read_settings(call)


def _to(call: ControlCall) -> int | None:
    if "seconds" in call.params:
        to = call.engine.clock.now() + int(call.params["seconds"]) * SECOND
        return _within(to, "seconds")
    if "to" in call.params:
        return _target(call.engine, call.params["to"], "to")
    return None


def _target(engine: Engine, given: str, param: str) -> int:
    """The moment that was named; the second that is running counts as now."""
    now = engine.clock.now()
    target = micros(parse(given))
    if target <= now - now % SECOND - 1:
        raise invalid(
            "parameter_invalid_value",
            param,
            f"{param} must not lie before {text(moment(now))}: the clock only goes forward.",
        )
    return _within(max(target, now), param)


def _within(to: int, param: str) -> int:
    if to > micros(parse(_LAST)):
        message = f"{param} must not lead beyond {_LAST}."
        raise invalid("parameter_invalid_value", param, message)
    return to


CONTROLS: Final = (
    ControlEndpoint("GET", "/health", health),
    ControlEndpoint("GET", "/clock", clock),
    ControlEndpoint(
        "POST",
        "/clock",
        set_clock,
        (Parameter("mode", Choice(("realtime", "frozen"))), Parameter("now", Timestamp())),
        own_mode=True,
        is_long=True,
    ),
    ControlEndpoint(
        "POST",
        "/clock/advance",
        advance,
        (
            Parameter("seconds", Integer(0, _JUMP_MAX)),
            Parameter("to", Timestamp()),
            Parameter("until", Choice(("next", "idle"))),
        ),
        is_long=True,
    ),
    ControlEndpoint(
        "POST",
        "/reset",
        reset,
        (Parameter("seed", Integer(0, _SEED_MAX)), Parameter("fixture", Text())),
    ),
    ControlEndpoint("GET", "/export", export),
    ControlEndpoint(
        "POST",
        "/import",
        restore,
        (
            Parameter("object", _Anything()),
            Parameter("format", _Anything()),
            Parameter("tables", _Anything()),
        ),
        limit=STATE,
    ),
    ControlEndpoint("GET", "/settings", read_settings),
    ControlEndpoint("POST", "/settings", change_settings, settings.FIELDS),
)


def routes(engine: Engine) -> list[Route]:
    """All control endpoints that need nothing but the engine."""
    controls = (*CONTROLS, *webhooks.CONTROLS, *_CONTROLS)
    return [route(engine, control) for control in controls]


async def list_emails(call: ControlCall) -> Doc:
    """The mails that the service would have sent, newest first."""

    def found(tx: Transaction) -> tuple[list[Doc], bool]:
        return tx.page("email", limit=call.limit, after=call.after)

    try:
        return page_of(await call.engine.read(call.mode, found))
    except KeyError:
        raise unknown_start(call.after, "email") from None


async def list_balances(call: ControlCall) -> Doc:
    """The balances of the mode by currency, minor units."""
    return page_of((await call.engine.read(call.mode, _shown_balances), False))


async def set_balance(call: ControlCall) -> Doc:
    """Sets the balance of one currency; it may be negative."""

    def change(tx: Transaction) -> list[Doc]:
        tx.set_balance(call.params["currency"], call.params["amount"])
        return _shown_balances(tx)

    return page_of((await call.engine.run(call.mode, change), False))


def _shown_balances(tx: Transaction) -> list[Doc]:
    return [
        {"object": "balance", "currency": code, "amount": amount, "livemode": tx.livemode}
        for code, amount in tx.balances().items()
    ]


_CONTROLS: Final = (
    ControlEndpoint("GET", "/emails", list_emails, PAGING),
    ControlEndpoint("GET", "/balances", list_balances),
    ControlEndpoint(
        "POST",
        "/balances",
        set_balance,
        (
            Parameter("currency", Currency(), required=True),
            Parameter("amount", Integer(-AMOUNT_MAX, AMOUNT_MAX), required=True),
        ),
    ),
)
