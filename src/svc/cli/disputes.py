"""`svc disputes`: answer disputes with evidence."""

from functools import partial
from typing import Annotated

import typer

from svc.cli.framework import options
from svc.cli.framework.app import listing, new_word, reading, writing
from svc.cli.framework.sending import send_list, send_read, send_write
from svc.cli.framework.session import Session
from svc.client.options import EVIDENCE
from svc.client.resources import disputes
from svc.service.facts import DISPUTE_STATUSES

app = new_word("disputes")


@writing(app, fields=EVIDENCE)
def update(ctx: typer.Context, dispute_id: options.DisputeId) -> None:
    """Attach evidence as a draft, or submit it, which is final.

    $ svc disputes update dp_Zh2iWj3kPq0aVb7cXd9eYf1g --tracking-number 1Z999 --shipping-carrier UPS --submit
    """  # noqa: E501  an example is one line
    send_write(Session.of(ctx), partial(disputes.update, dispute_id), changes=True)


@reading(app)
def retrieve(ctx: typer.Context, dispute_id: options.DisputeId) -> None:
    """Retrieve a dispute.

    $ svc disputes retrieve dp_Zh2iWj3kPq0aVb7cXd9eYf1g
    """
    send_read(Session.of(ctx), disputes.retrieve(dispute_id))


@listing(app, "list")
def list_(
    ctx: typer.Context,
    payment: Annotated[str | None, options.id_of("payment")] = None,
    status: Annotated[str | None, options.status(DISPUTE_STATUSES)] = None,
) -> None:
    """List disputes, newest first.

    $ svc disputes list --status needs_response
    """
    send_list(Session.of(ctx), disputes.list, {"payment": payment, "status": status})


@writing(app)
def accept(ctx: typer.Context, dispute_id: options.DisputeId) -> None:
    """Accept a dispute as lost. This cannot be undone.

    $ svc disputes accept dp_Zh2iWj3kPq0aVb7cXd9eYf1g
    """
    send_write(Session.of(ctx), partial(disputes.accept, dispute_id))
