"""`svc keys`: keep API keys in the OS keyring, roll them, and be told when it is time to."""

# Each module adds its verbs to the app; help lists them in this order.
from svc.cli.keys import stored  # noqa: F401, I001
from svc.cli.keys import roll  # noqa: F401
from svc.cli.keys import remind  # noqa: F401
from svc.cli.keys.shared import app

__all__ = ["app"]
