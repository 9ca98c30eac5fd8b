"""`svc webhook-endpoints`: register webhook endpoints."""

from typing import Annotated

import typer

from svc.cli.framework.app import new_noun, writing
from svc.cli.framework.inputs import without_empty
from svc.cli.framework.sending import send_write
from svc.cli.framework.session import Session
from svc.client.resources import webhook_endpoints

app = new_noun("Register webhook endpoints.")


@writing(app)
def create(
    ctx: typer.Context,
    url: Annotated[str | None, typer.Option(metavar="URL", help="Where events are sent.")] = None,
    events: Annotated[
        list[str] | None, typer.Option(metavar="TYPE", help="Repeatable, or a,b.")
    ] = None,
    description: Annotated[str | None, typer.Option(metavar="TEXT", help="Your own note.")] = None,
) -> None:
    """Register an endpoint; its signing secret is shown this once.

    $ svc webhook-endpoints create --url https://shop.example/webhooks --events order.paid --events refund.failed
    """  # noqa: E501  an example is one line
    names = [name for text in events or [] for name in text.split(",") if name]
    typed = without_empty(url=url, events=names, description=description)
    send_write(Session.of(ctx), webhook_endpoints.create, typed)
