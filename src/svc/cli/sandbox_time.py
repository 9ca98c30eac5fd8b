"""The sandbox's clock and its beginning: `svc sandbox advance` and `reset` (contract F.4, F.7)."""

from typing import Annotated

import typer

from svc.cli.app import verb
from svc.cli.duration import seconds_of
from svc.cli.fields import present
from svc.cli.sandbox_app import app
from svc.cli.sandbox_control import Control
from svc.cli.sandbox_options import Fixture, Seed
from svc.cli.session import Session
from svc.errors import UsageError


@verb(app)
def advance(
    ctx: typer.Context,
    duration: Annotated[
        str | None,
        typer.Argument(metavar="[DURATION]", help="As 3d, 1d12h or 90s", show_default=False),
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="WHEN", help="next: the next job; idle: no job is left.")
    ] = None,
    to: Annotated[str | None, typer.Option(metavar="TIME", help="As 2026-10-15T00:00:00Z.")] = None,
) -> None:
    """Turn the sandbox's clock forward. What falls due on the way happens, webhooks too.

    $ svc sandbox advance 3d
    $ svc sandbox advance --until idle
    """
    session = Session.of(ctx)
    if sum(given is not None for given in (duration, until, to)) != 1:
        raise UsageError("Give a duration, --until or --to.", hint="svc sandbox advance 3d")
    seconds = None if duration is None else str(seconds_of(duration, "DURATION"))
    with Control(session) as control:
        fields = present(seconds=seconds, until=until, to=to)
        session.out.one(*control.post("/clock/advance", fields))


@verb(app)
def reset(ctx: typer.Context, seed: Seed = None, fixture: Fixture = None) -> None:
    """Empty the sandbox. Objects, events, settings and keys of both modes go.

    $ svc sandbox reset --fixture demo
    """
    session = Session.of(ctx)
    fields = present(seed=None if seed is None else str(seed), fixture=fixture)
    with Control(session) as control:
        session.out.one(*control.post("/reset", fields))
