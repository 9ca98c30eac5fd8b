"""`svc events`: retrieve events; the verbs that receive webhooks are loaded only when named.

A verb has a file of its name: `listen`, `receive`, `replay`, `verify`, `inbox` and `log`. Begin
with `run`, which puts a listener together of a port, an `endpoint`, a `tunnel` and `svc.listen`;
`screen` prints what it tells. `svc doctor` looks at the parts, no other word imports them.
"""

import typer

from svc.cli.framework.app import LazyGroup, new_app, reading
from svc.cli.framework.options import EventId
from svc.cli.framework.registry import EVENT_VERBS
from svc.cli.framework.sending import send_read
from svc.cli.framework.session import Session
from svc.client.resources import events


class Events(LazyGroup):
    """The verbs that receive webhooks are heavy."""

    entries = EVENT_VERBS
    words = ("events",)


app = new_app()


@app.callback(
    cls=Events,
    help="""Retrieve events; receive, verify and forward webhooks.

    $ svc events listen --forward-to http://localhost:3000/webhooks
    $ svc events inbox --failed --since 2h
    """,
    invoke_without_command=True,
)
def noun(ctx: typer.Context) -> None:
    if ctx.invoked_subcommand is None:
        ctx.obj.stdout.write(ctx.get_help() + "\n")


@reading(app)
def retrieve(ctx: typer.Context, event_id: EventId) -> None:
    """Retrieve an event.

    $ svc events retrieve evt_3kPq0aVb7cXd9eYf1gZh2iWj
    """
    send_read(Session.of(ctx), events.retrieve(event_id))
