"""`svc sandbox`: the whole service on this machine, its dashboard and its shopper."""

from typing import Any, Final

from svc.cli import (
    sandbox_checkout,
    sandbox_dashboard,
    sandbox_endpoints,
    sandbox_env,
    sandbox_faults,
    sandbox_keys,
    sandbox_outcomes,
    sandbox_process,
    sandbox_shopper,
    sandbox_state,
    sandbox_time,
    sandbox_trigger,
    sandbox_webhooks,
)
from svc.cli.sandbox_app import app

# Each module adds its verbs to the app when it is first imported, which may be from anywhere; help
# and completion list them in this order.
_ORDER: Final = (
    sandbox_process,
    sandbox_env,
    sandbox_shopper,
    sandbox_checkout,
    sandbox_outcomes,
    sandbox_time,
    sandbox_trigger,
    sandbox_webhooks,
    sandbox_dashboard,
    sandbox_state,
)
_PLACES: Final = {module.__name__: place for place, module in enumerate(_ORDER)}


def _place(verb: Any) -> int:
    return _PLACES[verb.callback.__module__]


app.registered_commands.sort(key=_place)
app.add_typer(sandbox_endpoints.app, name="endpoints")
app.add_typer(sandbox_faults.app, name="fault")
app.add_typer(sandbox_keys.app, name="keys")

__all__ = ["app"]
