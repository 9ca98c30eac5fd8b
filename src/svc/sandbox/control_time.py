"""Control of time and of the sandbox as a whole: health, clock, advance, reset, settings."""

from dataclasses import dataclass
from typing import Any, Final

from svc import __version__
from svc.sandbox import settings
from svc.sandbox.checks import Choice, Integer, Text, Timestamp
from svc.sandbox.control_call import Call, Control
from svc.sandbox.documents import Doc
from svc.sandbox.engine import Engine
from svc.sandbox.params import Field, Kind, Settings
from svc.sandbox.problems import Problem, invalid, missing
from svc.sandbox.reading import STATE
from svc.sandbox.runner import Counts
from svc.sandbox.times import EPOCH, SECOND, micros, moment, parse, text

_SEED_MAX: Final = 2**63 - 1
_LAST: Final = "9000-01-01T00:00:00Z"  # dates end in 9999, and what is scheduled must fit too
_JUMP_MAX: Final = (parse(_LAST) - EPOCH).days * 86400


@dataclass(frozen=True, slots=True)
class _Anything(Kind):
    """A value that is looked at elsewhere."""

    def check(self, value: Any, name: str, settings: Settings) -> Any:  # noqa: ARG002
        return value


def shown_health(engine: Engine) -> Doc:
    return {
        "object": "sandbox",
        "version": __version__,
        "now": text(moment(engine.clock.now())),
        "persisted": engine.persisted,
    }


def shown_clock(engine: Engine) -> Doc:
    due = engine.next_due()
    return {
        "object": "clock",
        "mode": engine.clock.mode,
        "now": text(moment(engine.clock.now())),
        "next_job_at": None if due is None else text(moment(due)),
        "broken_jobs": engine.broken_jobs,
        **_shown_advance(engine),
    }


def _shown_advance(engine: Engine) -> Doc:
    """Where the clock is being turned to, and how far that has come; both null at rest."""
    if engine.advancing is None:
        return {"advancing_to": None, "advanced": None}
    to, counts = engine.advancing
    return {
        "advancing_to": text(moment(to)) if isinstance(to, int) else to,
        "advanced": _shown_counts(counts),
    }


def _shown_counts(counts: Counts) -> Doc:
    return {"jobs": counts.jobs, "events": counts.events, "deliveries": counts.deliveries}


async def health(call: Call) -> Doc:
    return shown_health(call.engine)


async def clock(call: Call) -> Doc:
    return shown_clock(call.engine)


async def set_clock(call: Call) -> Doc:
    if not call.params:
        raise missing("mode")
    now = call.params.get("now")
    to = None if now is None else _target(call.engine, now, "now")
    mode = call.params.get("mode", call.engine.clock.mode)
    await call.engine.set_clock(mode, to, call.gone)
    return shown_clock(call.engine)


async def advance(call: Call) -> Doc:
    """Moves the clock and says what happened on the way."""
    if not call.params:
        raise missing("seconds")
    if len(call.params) > 1:
        message = "Give one of seconds, to and until."
        raise Problem(400, "parameters_exclusive", message, param=min(call.params))
    to = _to(call)
    until = call.params.get("until")
    counts = await call.engine.advance(to=to, until=until, gone=call.gone)
    return {**shown_clock(call.engine), **_shown_counts(counts)}


async def reset(call: Call) -> Doc:
    await call.engine.reset(seed=call.params.get("seed"), fixture=call.params.get("fixture"))
    return shown_health(call.engine)


async def export(call: Call) -> Doc:
    return await call.engine.export()


async def restore(call: Call) -> Doc:
    await call.engine.restore(call.params)
    return shown_health(call.engine)


async def read_settings(call: Call) -> Doc:
    return {"object": "settings", **call.engine.settings}


async def change_settings(call: Call) -> Doc:
    await call.engine.run(call.mode, lambda world: world.update_settings(call.params))
    call.engine.wake()
    return await read_settings(call)


def _to(call: Call) -> int | None:
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
    Control("GET", "/health", health),
    Control("GET", "/clock", clock),
    Control(
        "POST",
        "/clock",
        set_clock,
        (Field("mode", Choice(("realtime", "frozen"))), Field("now", Timestamp())),
        own_mode=True,
        is_long=True,
    ),
    Control(
        "POST",
        "/clock/advance",
        advance,
        (
            Field("seconds", Integer(0, _JUMP_MAX)),
            Field("to", Timestamp()),
            Field("until", Choice(("next", "idle"))),
        ),
        is_long=True,
    ),
    Control(
        "POST",
        "/reset",
        reset,
        (Field("seed", Integer(0, _SEED_MAX)), Field("fixture", Text())),
    ),
    Control("GET", "/export", export),
    Control(
        "POST",
        "/import",
        restore,
        (Field("object", _Anything()), Field("format", _Anything()), Field("tables", _Anything())),
        limit=STATE,
    ),
    Control("GET", "/settings", read_settings),
    Control("POST", "/settings", change_settings, settings.FIELDS),
)
