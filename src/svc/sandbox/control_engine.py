"""The engine's part of `/_sandbox/` as routes; the app guards and mounts them."""

from typing import Final

from starlette.routing import Route

from svc.sandbox import control_time, control_webhooks
from svc.sandbox.checks import Currency, Integer
from svc.sandbox.control_call import PAGING, Call, Control, page_of, route, unknown_start
from svc.sandbox.documents import Doc
from svc.sandbox.engine import Engine
from svc.sandbox.params import Field
from svc.sandbox.world import World
from svc.spec import AMOUNT_MAX


def routes(engine: Engine) -> list[Route]:
    """All control endpoints that need nothing but the engine."""
    controls = (*control_time.CONTROLS, *control_webhooks.CONTROLS, *_CONTROLS)
    return [route(engine, control) for control in controls]


async def list_emails(call: Call) -> Doc:
    """The mails that the service would have sent, newest first."""

    def found(world: World) -> tuple[list[Doc], bool]:
        return world.page("email", limit=call.limit, after=call.after)

    try:
        return page_of(await call.engine.read(call.mode, found))
    except KeyError:
        raise unknown_start(call.after, "email") from None


async def list_balances(call: Call) -> Doc:
    """The balances of the mode by currency, minor units."""
    return page_of((await call.engine.read(call.mode, _shown_balances), False))


async def set_balance(call: Call) -> Doc:
    """Sets the balance of one currency; it may be negative."""

    def change(world: World) -> list[Doc]:
        world.set_balance(call.params["currency"], call.params["amount"])
        return _shown_balances(world)

    return page_of((await call.engine.run(call.mode, change), False))


def _shown_balances(world: World) -> list[Doc]:
    return [
        {"object": "balance", "currency": code, "amount": amount, "livemode": world.livemode}
        for code, amount in world.balances().items()
    ]


_CONTROLS: Final = (
    Control("GET", "/emails", list_emails, PAGING),
    Control("GET", "/balances", list_balances),
    Control(
        "POST",
        "/balances",
        set_balance,
        (
            Field("currency", Currency(), required=True),
            Field("amount", Integer(-AMOUNT_MAX, AMOUNT_MAX), required=True),
        ),
    ),
)
