"""`svc sandbox trigger`, `events`, `deliveries`, `resend`, `emails` and `endpoints`.

They do what a dashboard would do about webhooks: make events happen, show and repeat deliveries,
list the e-mails, and manage endpoints. Each calls a control of the running sandbox.
"""

from typing import Any, Final, get_args

from svc.cli.framework import options
from svc.cli.framework.app import make_app, make_noun, verb
from svc.cli.framework.control import ask, call_and_show, call_and_show_page, show
from svc.cli.framework.inputs import build_body, without_empty
from svc.cli.framework.inputs.times import seconds_of
from svc.cli.framework.options import argument, option
from svc.cli.framework.session import Session
from svc.client.sandbox import control_call
from svc.errors import ApiError, UsageError, build_wrong_choice
from svc.sandbox.store import DeliveryStatus
from svc.service.facts import (
    EVENT_TYPES,
    LIMIT_DEFAULT,
    LIMIT_MAX,
    WEBHOOK_SECRET_GRACE_MAX_SECONDS,
)

app = make_app()

PAGE_SIZE: Final[int | None] = option(
    f"1..{LIMIT_MAX}", "How many objects a page has.", show_default=str(LIMIT_DEFAULT)
)
_SHOWN: Final = ("object", "id", "status")


@verb(app)
def trigger(
    session: Session,
    event_type: str = argument("TYPE", f"One of {', '.join(EVENT_TYPES)}."),
    data: list[str] | None = option(
        "PATH=VALUE",
        "A field of the order or payout that it begins with, such as shipping[country]=GB.",
        "--data",
        "-d",
    ),
) -> None:
    """Let an event of any type happen, with all that it needs.

    It happens for real: objects are created, and their ids are printed.

    $ svc sandbox trigger order.paid
    $ svc sandbox trigger payout.failed -d amount=5000 -d currency=GBP
    """
    if event_type not in EVENT_TYPES:
        error = build_wrong_choice("TYPE", event_type, EVENT_TYPES)
        if session.format == "human":
            # All the names are five lines on a terminal, of the four that an error may have there.
            error.message = error.message.partition(" Use one of")[0]
            error.hint = f"svc help webhooks lists all {len(EVENT_TYPES)}"
        raise error
    read = session.read_file
    overrides = build_body(base=None, typed={}, data=data or [], read=read)
    body = without_empty(type=event_type, overrides=overrides or None)
    reply = ask(session, control_call("POST", "events", "trigger", body=body))
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


ONLY_ENDPOINT: Final[str | None] = option("ID", "Only to this endpoint, we_...")


@verb(app)
def events(
    session: Session,
    event_type: str | None = option("TYPE", "Only these, such as order.paid.", "--type"),
    limit: int | None = PAGE_SIZE,
    starting_after: str | None = option("ID", "Begin after this event, evt_..."),
) -> None:
    """List events, newest first, delivered or not.

    $ svc sandbox events --type order.paid
    """
    call_and_show_page(
        session, "events", type=event_type, limit=limit, starting_after=starting_after
    )


@verb(app)
def deliveries(
    session: Session,
    event: str | None = option("ID", "Only of this event, evt_..."),
    endpoint: str | None = ONLY_ENDPOINT,
    status: str | None = options.status(get_args(DeliveryStatus)),
    limit: int | None = PAGE_SIZE,
    starting_after: str | None = option("ID", "Begin after this attempt, dlv_..."),
) -> None:
    """List webhook attempts, newest first. Each has its address and what came back.

    $ svc sandbox deliveries --status failed
    """
    call_and_show_page(
        session,
        "deliveries",
        event=event,
        endpoint=endpoint,
        status=status,
        limit=limit,
        starting_after=starting_after,
    )


@verb(app)
def resend(
    session: Session, event: str = options.EVENT_ID, endpoint: str | None = ONLY_ENDPOINT
) -> None:
    """Deliver an event once more, now, to the endpoints that take its type.

    $ svc sandbox resend evt_3kPq0aVb7cXd9eYf1gZh2iWj
    """
    try:
        call_and_show(
            session, "POST", "events", event, "resend", body=without_empty(endpoint=endpoint)
        )
    except ApiError as error:
        if error.code in ("endpoint_missing", "endpoint_not_subscribed"):
            error.hint = "svc sandbox endpoints list shows which there are"
        raise


@verb(app)
def emails(
    session: Session,
    limit: int | None = PAGE_SIZE,
    starting_after: str | None = option("ID", "Begin after this e-mail, eml_..."),
) -> None:
    """List the e-mails that the service would have sent, newest first.

    $ svc sandbox emails
    """
    call_and_show_page(session, "emails", limit=limit, starting_after=starting_after)


ENDPOINT_ID: Final = argument("ID", "The endpoint, we_...")

endpoints_app = make_noun("Look after webhook endpoints, as the dashboard does.")


@verb(endpoints_app, "list")
def list_(session: Session) -> None:
    """List the endpoints of a mode and whether they are enabled.

    $ svc sandbox endpoints list
    """
    call_and_show(session, "GET", "webhook_endpoints")


@verb(endpoints_app)
def enable(session: Session, endpoint: str = ENDPOINT_ID) -> None:
    """Enable an endpoint again. What was dropped stays dropped.

    $ svc sandbox endpoints enable we_3kPq0aVb7cXd9eYf1gZh2iWj
    """
    call_and_show(session, "POST", "webhook_endpoints", endpoint, "enable")


@verb(endpoints_app)
def disable(session: Session, endpoint: str = ENDPOINT_ID) -> None:
    """Disable an endpoint. Attempts that are pending are dropped.

    $ svc sandbox endpoints disable we_3kPq0aVb7cXd9eYf1gZh2iWj
    """
    call_and_show(session, "POST", "webhook_endpoints", endpoint, "disable")


@verb(endpoints_app)
def delete(session: Session, endpoint: str = ENDPOINT_ID) -> None:
    """Delete an endpoint. The API itself has no such call.

    $ svc sandbox endpoints delete we_3kPq0aVb7cXd9eYf1gZh2iWj
    """
    call_and_show(session, "DELETE", "webhook_endpoints", endpoint)


@verb(endpoints_app, "roll-secret")
def roll_secret(
    session: Session,
    endpoint: str = ENDPOINT_ID,
    grace: str = option("DURATION", "How long the old one signs along, at most 1d.", default="1d"),
) -> None:
    """Replace an endpoint's signing secret. The new one is shown this once.

    $ svc sandbox endpoints roll-secret we_3kPq0aVb7cXd9eYf1gZh2iWj --grace 1h
    """
    seconds = seconds_of(grace, "--grace")
    if seconds > WEBHOOK_SECRET_GRACE_MAX_SECONDS:
        raise UsageError("--grace must be at most 1d.", param="--grace")
    call_and_show(
        session, "POST", "webhook_endpoints", endpoint, "roll_secret", body={"expires_in": seconds}
    )
