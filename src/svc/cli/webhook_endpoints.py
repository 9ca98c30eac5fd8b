"""`svc webhook-endpoints`: register webhook endpoints."""

import typer

from svc.cli.framework.app import new_word, writing
from svc.cli.framework.sending import send_write
from svc.cli.framework.session import Session
from svc.client.options import ENDPOINT
from svc.client.resources import webhook_endpoints

app = new_word("webhook-endpoints")


@writing(app, fields=ENDPOINT)
def create(ctx: typer.Context) -> None:
    """Register an endpoint; its signing secret is shown this once.

    $ svc webhook-endpoints create --url https://shop.example/webhooks --events order.paid --events refund.failed
    """  # noqa: E501  an example is one line
    send_write(Session.of(ctx), webhook_endpoints.create)
