"""The dashboard's webhook endpoints: `svc sandbox endpoints` (assumptions: Delivery)."""

from typing import Annotated, Final

import typer

from svc.cli.app import new_noun, verb
from svc.cli.duration import seconds_of
from svc.cli.sandbox_call import tell
from svc.cli.session import Session
from svc.client import controls
from svc.errors import UsageError

_DAY: Final = 86400

EndpointId = Annotated[
    str, typer.Argument(metavar="ID", help="The endpoint, we_...", show_default=False)
]

app = new_noun("Look after webhook endpoints, as the dashboard does.")


@verb(app, "list")
def list_(ctx: typer.Context) -> None:
    """List the endpoints of a mode and whether they are enabled.

    $ svc sandbox endpoints list
    """
    tell(Session.of(ctx), controls.endpoints())


@verb(app)
def enable(ctx: typer.Context, endpoint: EndpointId) -> None:
    """Enable an endpoint again. What was dropped stays dropped.

    $ svc sandbox endpoints enable we_3kPq0aVb7cXd9eYf1gZh2iWj
    """
    tell(Session.of(ctx), controls.enable_endpoint(endpoint))


@verb(app)
def disable(ctx: typer.Context, endpoint: EndpointId) -> None:
    """Disable an endpoint. Attempts that are pending are dropped.

    $ svc sandbox endpoints disable we_3kPq0aVb7cXd9eYf1gZh2iWj
    """
    tell(Session.of(ctx), controls.disable_endpoint(endpoint))


@verb(app)
def delete(ctx: typer.Context, endpoint: EndpointId) -> None:
    """Delete an endpoint. The API itself has no such call.

    $ svc sandbox endpoints delete we_3kPq0aVb7cXd9eYf1gZh2iWj
    """
    tell(Session.of(ctx), controls.delete_endpoint(endpoint))


@verb(app, "roll-secret")
def roll_secret(
    ctx: typer.Context,
    endpoint: EndpointId,
    grace: Annotated[
        str, typer.Option(metavar="DURATION", help="How long the old one signs along, to 1d (1d).")
    ] = "1d",
) -> None:
    """Replace an endpoint's signing secret. The new one is shown this once.

    $ svc sandbox endpoints roll-secret we_3kPq0aVb7cXd9eYf1gZh2iWj --grace 1h
    """
    seconds = seconds_of(grace, "--grace")
    if seconds > _DAY:
        raise UsageError("--grace is at most 1d.", param="--grace")
    tell(Session.of(ctx), controls.roll_endpoint_secret(endpoint, seconds))
