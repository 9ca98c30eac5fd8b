"""Controls of time and of the sandbox as a whole: health, clock, reset, settings, balances, export.

`svc sandbox advance`, `clock`, `reset`, `settings`, `balances`, `emails`, `export` and `import`
call them, and `svc sandbox status` asks for the health. Each works on the `engine` of the sandbox.
"""

from typing import Final, get_args

from svc import __version__
from svc.sandbox.clock import EPOCH, SECOND, AdvanceUntil, ClockMode, micros, parse, text_of
from svc.sandbox.control.call import PAGING, ControlCall, ControlEndpoint, Unchecked, build_list
from svc.sandbox.control.fixtures import FIXTURES
from svc.sandbox.engine import Engine
from svc.sandbox.http.exchange import STATE, HttpReply
from svc.sandbox.jobs.runner import Counts
from svc.sandbox.parameters.kinds import Choice, Currency, Integer, Text, Timestamp
from svc.sandbox.parameters.problems import Problem, build_invalid, build_missing, resource_missing
from svc.sandbox.parameters.tables import Parameter
from svc.sandbox.resources import api_keys, orders
from svc.sandbox.store import INTEGER_MAX, settings
from svc.sandbox.store.documents import Doc
from svc.sandbox.store.export import StateInvalidError
from svc.sandbox.store.transaction import Transaction
from svc.service.facts import AMOUNT_MAX

_LAST: Final = "9000-01-01T00:00:00Z"  # dates end in 9999, and what is scheduled must fit too
_OF: Final = Parameter("of", Text())
_JUMP_MAX: Final = (parse(_LAST) - EPOCH).days * 86400


async def health(call: ControlCall) -> Doc:
    return {
        "object": "sandbox",
        "status": "ready",
        "world": call.engine.world,
        "version": __version__,
        "now": call.engine.clock.now_text(),
        "persisted": call.engine.persisted,
    }


async def clock(call: ControlCall) -> Doc:
    engine = call.engine
    due = engine.runner.next_due()
    return {
        "object": "clock",
        "mode": engine.clock.mode,
        "now": engine.clock.now_text(),
        "next_job_at": None if due is None else text_of(due),
        "broken_jobs": engine.runner.broken,
        **_show_advance(engine),
    }


def _show_advance(engine: Engine) -> Doc:
    """Where the clock is being turned to, and how far that has come; both null at rest."""
    if engine.runner.advancing is None:
        return {"advancing_to": None, "advanced": None}
    to, counts = engine.runner.advancing
    return {
        "advancing_to": text_of(to) if isinstance(to, int) else to,
        "advanced": _show_counts(counts),
    }


def _show_counts(counts: Counts) -> Doc:
    return {"jobs": counts.jobs, "events": counts.events, "deliveries": counts.deliveries}


async def set_clock(call: ControlCall) -> Doc:
    if not call.params:
        raise build_missing("mode")
    now = call.params.get("now")
    to = None if now is None else _target(call.engine, now, "now")
    mode = call.params.get("mode", call.engine.clock.mode)
    await call.engine.set_clock(mode, to, call.gone)
    return await clock(call)


async def advance(call: ControlCall) -> Doc:
    """Moves the clock and says what happened on the way."""
    if not call.params:
        raise build_missing("seconds")
    if len(call.params) > 1:
        message = "Give exactly one of seconds, to and until."
        raise Problem(400, "parameters_exclusive", message, param=min(call.params))
    engine, to, until = call.engine, None, call.params.get("until")
    if "seconds" in call.params:
        to = _within(engine.clock.now() + int(call.params["seconds"]) * SECOND, "seconds")
    elif "to" in call.params:
        to = _target(engine, call.params["to"], "to")
    counts = await engine.runner.advance(to=to, until=until, gone=call.gone)
    return {**await clock(call), **_show_counts(counts)}


async def reset(call: ControlCall) -> Doc:
    await call.engine.reset(seed=call.params.get("seed"), fixture=call.params.get("fixture"))
    return await health(call)


async def export(call: ControlCall) -> HttpReply:
    return HttpReply(200, b"", file=await call.engine.export())


async def restore(call: ControlCall) -> Doc:
    """Imports a state: as a whole, or the rows that earlier calls of the same upload have brought.

    A call with `table` brings rows of that table and changes nothing.
    """
    params, upload = call.params, call.params.get("upload")
    try:
        if upload is not None and "table" in params:
            count = call.engine.upload.add(upload, params["table"], params.get("rows", []))
            return {"object": "sandbox_upload", "id": upload, "rows": count}
        if upload is not None:
            params = {**params, "tables": dict(call.engine.upload.take(upload))}
        await call.engine.restore(params)
    except StateInvalidError as error:
        raise Problem(400, "state_invalid", str(error)) from error
    return await health(call)


async def read_settings(call: ControlCall) -> Doc:
    whose = call.read(lambda tx: _whose(tx, call.params.get("of")))
    return {"object": "settings", **call.engine.settings.of(*filter(None, [whose]))}


async def change_settings(call: ControlCall) -> Doc:
    """Changes settings for all, or `of` one key or order alone."""
    changes = {name: value for name, value in call.params.items() if name != "of"}

    def change(tx: Transaction) -> None:
        whose = _whose(tx, call.params.get("of"))
        if whose is not None and (general := sorted(changes.keys() - settings.OF_ONE)):
            message = f"{general[0]} holds for the whole sandbox; leave out of."
            raise build_invalid("parameters_exclusive", general[0], message)
        tx.update_settings(changes, whose)

    await call.run(change)
    call.engine.runner.wake()
    return await read_settings(call)


def _whose(tx: Transaction, given: str | None) -> str | None:
    """The id of a key, named by it or by its text, or of an order; raises Problem for others."""
    if given is None or tx.get(orders.KIND, given) or tx.get(api_keys.KIND, given):
        return given
    key = api_keys.find(tx, given)
    if key is None:
        raise resource_missing("key or order", given, "of", 400)
    return str(key["id"])


def _target(engine: Engine, given: str, param: str) -> int:
    """The moment that was named; the second that is running counts as now."""
    now = engine.clock.now()
    target = micros(parse(given))
    if target < now:
        raise build_invalid(
            "parameter_invalid_value",
            param,
            f"{param} must not lie before {text_of(now)}: the clock only goes forward.",
        )
    return _within(target, param)


def _within(to: int, param: str) -> int:
    if to > micros(parse(_LAST)):
        message = f"{param} must not lead beyond the time {_LAST}."
        raise build_invalid("parameter_invalid_value", param, message)
    return to


async def list_emails(call: ControlCall) -> Doc:
    """The mails that the service would have sent, newest first."""
    return await call.page(
        "email", lambda tx, limit, after: tx.page("email", limit=limit, after=after)
    )


async def list_balances(call: ControlCall) -> Doc:
    """The balances of the mode by currency, minor units."""
    return call.read(_show_balances)


async def set_balance(call: ControlCall) -> Doc:
    """Sets the balance of one currency; it may be negative."""

    def change(tx: Transaction) -> Doc:
        tx.set_balance(call.params["currency"], call.params["amount"])
        return _show_balances(tx)

    return await call.run(change)


def _show_balances(tx: Transaction) -> Doc:
    return build_list(
        [
            {"object": "balance", "currency": code, "amount": amount, "livemode": tx.livemode}
            for code, amount in tx.balances().items()
        ]
    )


CONTROLS: Final = (
    ControlEndpoint("GET", "/health", health),
    ControlEndpoint("GET", "/clock", clock),
    ControlEndpoint(
        "POST",
        "/clock",
        set_clock,
        (Parameter("mode", Choice(get_args(ClockMode))), Parameter("now", Timestamp())),
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
            Parameter("until", Choice(get_args(AdvanceUntil))),
        ),
        is_long=True,
    ),
    ControlEndpoint(
        "POST",
        "/reset",
        reset,
        # The name is checked here, before an advance is ended for nothing.
        (Parameter("seed", Integer(0, INTEGER_MAX)), Parameter("fixture", Choice(FIXTURES))),
    ),
    ControlEndpoint("GET", "/export", export),
    ControlEndpoint(
        "POST",
        "/import",
        restore,
        (
            *(Parameter(name, Unchecked()) for name in ("object", "format", "tables", "rows")),
            Parameter("upload", Text()),
            Parameter("table", Text()),
        ),
        limit=STATE,
    ),
    ControlEndpoint("GET", "/settings", read_settings, (_OF,)),
    ControlEndpoint("POST", "/settings", change_settings, (_OF, *settings.FIELDS)),
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
