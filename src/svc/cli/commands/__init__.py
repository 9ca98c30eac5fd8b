"""`svc commands`: the command tree as data."""

import typer

from svc.cli.framework.app import new_app, verb
from svc.cli.framework.session import Session

app = new_app()

_WIDTH_MAX = 100


@verb(app)
def commands(ctx: typer.Context) -> None:
    """List every command; as JSON with all that help and the parser know of it.

    That is arguments, options with types, defaults and values, which commands move money,
    examples, variables and exit codes.

    $ svc commands
    $ svc commands -o json --query 'commands[?moves_money].name'
    """
    session = Session.of(ctx)
    out = session.out
    from svc.cli.commands.document import document, text
    from svc.cli.commands.tree import tree

    found = tree()
    if session.format == "human" and session.given.everywhere.query is None:
        page = text(found, min(session.help_width(), _WIDTH_MAX), color=session.help_color())
        session.streams.stdout.write(page)
    elif session.format in ("ndjson", "csv"):
        out.value(document(found)["commands"])
    else:
        out.value(document(found))
