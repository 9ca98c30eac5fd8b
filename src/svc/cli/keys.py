"""`svc keys`: keep API keys in the OS keyring, roll them, and be told when it is time to."""

# Each module adds its verbs to the app; help lists them in this order.
from svc.cli import key_storing  # noqa: F401, I001
from svc.cli import keys_roll  # noqa: F401
from svc.cli import keys_remind  # noqa: F401
from svc.cli.key_app import app

__all__ = ["app"]
