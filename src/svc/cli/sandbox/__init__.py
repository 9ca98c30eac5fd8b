"""`svc sandbox`: the whole service on this machine, its dashboard and its shopper."""

from typing import Any, Final

from svc.cli.sandbox import bank, env, faults, keys, process, shopper, state, time, webhooks
from svc.cli.sandbox.shared import app

# Each module adds its verbs to the app when it is first imported, which may be from anywhere; help
# and completion list them in this order.
_ORDER: Final = (
    process,
    env,
    shopper,
    bank,
    time,
    webhooks,
    state,
)
_PLACES: Final = {module.__name__: place for place, module in enumerate(_ORDER)}


def _place(verb: Any) -> int:
    return _PLACES[verb.callback.__module__]


app.registered_commands.sort(key=_place)
app.add_typer(webhooks.endpoints_app, name="endpoints")
app.add_typer(faults.app, name="fault")
app.add_typer(keys.app, name="keys")

__all__ = ["app"]
