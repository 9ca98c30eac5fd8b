"""`svc sandbox`: the whole service on this machine, its dashboard and its shopper."""

# Each module adds its verbs to the app; help lists them in this order.
from svc.cli import sandbox_process  # noqa: F401, I001
from svc.cli import sandbox_env  # noqa: F401
from svc.cli import sandbox_shopper  # noqa: F401
from svc.cli import sandbox_checkout  # noqa: F401
from svc.cli import sandbox_outcomes  # noqa: F401
from svc.cli import sandbox_time  # noqa: F401
from svc.cli import sandbox_trigger  # noqa: F401
from svc.cli import sandbox_webhooks  # noqa: F401
from svc.cli import sandbox_endpoints
from svc.cli import sandbox_faults
from svc.cli import sandbox_keys
from svc.cli import sandbox_dashboard  # noqa: F401
from svc.cli import sandbox_state  # noqa: F401
from svc.cli.sandbox_app import app

app.add_typer(sandbox_endpoints.app, name="endpoints")
app.add_typer(sandbox_faults.app, name="fault")
app.add_typer(sandbox_keys.app, name="keys")

__all__ = ["app"]
