"""The service served: `create` builds it, `server` runs it."""

from typing import Any

from svc.sandbox.create import create_app
from svc.sandbox.launch_options import LaunchOptions
from svc.sandbox.server import OnReady, run


def serve(options: LaunchOptions, on_ready: OnReady) -> None:
    """Runs a sandbox in this process until a signal ends it; see `server.run`."""
    run(options, _app, on_ready)


def _app(options: LaunchOptions) -> Any:
    return create_app(
        options.db,
        seed=options.seed,
        fixture=options.fixture,
        strict_https=options.strict_https,
    )
