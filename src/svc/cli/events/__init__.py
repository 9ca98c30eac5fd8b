"""`svc events`: retrieve events; the verbs that receive webhooks are loaded only when named."""

from typing import Any

import typer
from typer.core import TyperCommand

from svc.cli.framework import options
from svc.cli.framework.app import Noun, new_app, reading
from svc.cli.framework.registry import EVENT_VERBS, load
from svc.cli.framework.sending import send_read
from svc.cli.framework.session import Session
from svc.client.resources import events


class Events(Noun):
    """Lists all its verbs from data and imports the heavy ones when they run."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.commands.update(
            {
                name: TyperCommand(name=name, help=entry.summary)
                for name, entry in EVENT_VERBS.items()
            }
        )

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        if name in EVENT_VERBS:
            command = self.commands[name] = load("events", name)
        return name, command, rest


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
        ctx.obj.streams.stdout.write(ctx.get_help() + "\n")


@reading(app)
def retrieve(ctx: typer.Context, event_id: options.EventId) -> None:
    """Retrieve an event.

    $ svc events retrieve evt_3kPq0aVb7cXd9eYf1gZh2iWj
    """
    send_read(Session.of(ctx), events.retrieve(event_id))
