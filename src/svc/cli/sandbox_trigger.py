"""Events on demand: `svc sandbox trigger`."""

from typing import Annotated, Any, Final

import typer

from svc.cli.app import verb
from svc.cli.body import build_body, file_reader
from svc.cli.nearest import guess
from svc.cli.sandbox_app import app
from svc.cli.sandbox_call import ask, show
from svc.cli.session import Session
from svc.client import controls
from svc.errors import UsageError
from svc.spec import EVENT_TYPES

EventType = Annotated[
    str,
    typer.Argument(metavar="TYPE", help=f"One of: {', '.join(EVENT_TYPES)}", show_default=False),
]
_SHOWN: Final = ("object", "id", "status")
Data = Annotated[
    list[str] | None,
    typer.Option(
        "--data",
        "-d",
        metavar="PATH=VALUE",
        help="A field of the order or payout that it begins with, as shipping[country]=GB.",
    ),
]


@verb(app)
def trigger(ctx: typer.Context, event_type: EventType, data: Data = None) -> None:
    """Let an event of any type happen, with all that it needs.

    It happens for real: objects are created, and what was created is told.

    $ svc sandbox trigger order.paid
    $ svc sandbox trigger payout.failed -d amount=5000 -d currency=GBP
    """
    session = Session.of(ctx)
    if event_type not in EVENT_TYPES:
        # All the names are five lines on a terminal, of the four that an error may have there.
        person = session.format == "human"
        raise UsageError(
            f"There is no event type {event_type!r}.{guess(event_type, EVENT_TYPES)}",
            param="TYPE",
            hint=f"svc help webhooks lists all {len(EVENT_TYPES)}"
            if person
            else f"There are: {', '.join(EVENT_TYPES)}",
        )
    read = file_reader(session.streams.stdin)
    overrides = build_body(base=None, typed={}, data=data or [], read=read)
    reply = ask(session, controls.trigger(event_type, overrides))
    if session.format == "id":
        session.out.value(reply.data["event"])
    elif session.format == "human":
        _show(session, reply.data)
    else:
        show(session, reply)


def _show(session: Session, told: Any) -> None:
    """People see the event's id, what was created, and where to look next."""
    event = told["event"]["id"]
    others = [one["type"] for one in told["events"] if one["id"] != event]
    beside = len(told["type"]) + 2 + len(event) <= session.streams.width(session.env)
    gap = "  " if beside else "\n  "
    session.out.line(f"{told['type']}{gap}{event}")
    session.out.line("")
    session.out.value([{name: doc[name] for name in _SHOWN} for doc in told["created"]])
    if others:
        session.out.note(f"On the way: {', '.join(others)}.")
    session.out.hint(f"Next: svc events retrieve {event}")
