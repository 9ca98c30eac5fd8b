"""`svc requests`: what was sent, what became of it, and settling what nobody knows."""

from typing import Annotated

import typer

from svc.cli.app import new_noun, verb
from svc.cli.journalled import journal_of
from svc.cli.request_records import record_of, summary_of
from svc.cli.session import Session
from svc.client.journal.refusals import unknown_request
from svc.journal.files import set_aside_of

app = new_noun("See what was sent and what became of it; settle what is unresolved.")

RequestId = Annotated[
    str, typer.Argument(metavar="ID", help="The request, rq_...", show_default=False)
]
_SHOWN = 100


@verb(app, "list")
def list_(
    ctx: typer.Context,
    unresolved: Annotated[
        bool, typer.Option("--unresolved", help="Only those whose outcome is not known.")
    ] = False,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="The newest N.")
    ] = _SHOWN,
) -> None:
    """List the POSTs of this machine, newest first.

    With --unresolved, all whose outcome is not known; they are kept until you settle them. Others
    are forgotten after 90 days, but not those with an idempotency key of your own, nor the rows of
    a batch: they are what keeps you from sending them a second time.

    $ svc requests list --unresolved
    """
    session = Session.of(ctx)
    with journal_of(session) as journal:
        found = journal.list(unresolved=unresolved, limit=None if unresolved else limit)
        rows = [summary_of(one, in_flight=journal.is_in_flight(one)) for one in found]
    session.out.value(rows)
    for aside in set_aside_of(session.paths.state_file):
        session.out.warn(
            f"{aside} is a damaged state database that was set aside: requests that it knew are "
            "not in this list. Look at the service for what they did, then remove the file."
        )
    if any(row["status"] in ("unresolved", "unknown") for row in rows):
        session.out.hint("Settle each: svc requests resume ID")


@verb(app)
def show(ctx: typer.Context, request_id: RequestId) -> None:
    """Show one request: what was sent, with which key, and how it ended.

    $ svc requests show rq_4kd0v6x8gq2m7w1s9b3t
    """
    session = Session.of(ctx)
    with journal_of(session) as journal:
        found = journal.find(request_id)
        if found is None:
            raise unknown_request(request_id)
        session.out.value(record_of(found, in_flight=journal.is_in_flight(found)))


@verb(app)
def resume(ctx: typer.Context, request_id: RequestId) -> None:
    """Send an unresolved request again; it is never doubled.

    It has the same key and the same bytes, so the service answers with the original result. After
    23 hours it is refused.

    $ svc requests resume rq_4kd0v6x8gq2m7w1s9b3t
    """
    from svc.cli.resuming import resume_request

    resume_request(Session.of(ctx), request_id)


@verb(app)
def forget(ctx: typer.Context, request_id: RequestId) -> None:
    """Delete a request from the journal, once you know what became of it.

    The next run of a batch sends a forgotten row again: if it was carried out, take it out of the
    file.

    $ svc requests forget rq_4kd0v6x8gq2m7w1s9b3t
    """
    session = Session.of(ctx)
    with journal_of(session) as journal:
        gone = journal.forget(request_id)
    session.out.value(record_of(gone, in_flight=False))
    if gone.is_unresolved:
        session.out.note("Forgotten. Whether it was carried out is not known to this machine.")
    if gone.batch is not None:
        session.out.warn(
            f"This was row {gone.row} of a batch, whose next run sends it again. If it was carried "
            "out, take the row out of the file first."
        )
