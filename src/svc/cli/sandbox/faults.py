"""What goes wrong on purpose: `svc sandbox fault`."""

import json
from typing import TYPE_CHECKING, Annotated, Final, Literal, get_args

import typer

from svc.cli.framework.app import new_noun, verb
from svc.cli.framework.control import ask, open_control, show
from svc.cli.framework.inputs import Body, file_reader, without_empty
from svc.cli.framework.session import Session
from svc.client.resources import controls
from svc.errors import NotFound, UsageError

if TYPE_CHECKING:
    from svc.client.sandbox import SandboxClient

API: Final = "faults"
WEBHOOK: Final = "webhook_faults"
Connection = Literal["close", "reset", "truncate", "garbage", "drip"]
WebhookEffect = Literal["duplicate", "reorder", "drop", "bad_signature", "stale_timestamp", "delay"]

app = new_noun("Have requests and webhook deliveries go wrong on purpose.")

Skip = Annotated[
    int | None, typer.Option(metavar="N", help="Let N matching ones pass first.", show_default="0")
]
Times = Annotated[
    int | None, typer.Option(metavar="N", help="Then spoil N of them.", show_default="1")
]
DelayMs = Annotated[
    int | None,
    typer.Option(
        "--delay-ms",
        metavar="MS",
        help="Answer or deliver so much later, in real milliseconds; goes with all others.",
    ),
]
_REQUESTS: Final = "For API requests"
_DELIVERIES: Final = "For webhook deliveries"


@verb(app)
def add(
    ctx: typer.Context,
    skip: Skip = None,
    times: Times = None,
    delay_ms: DelayMs = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD", help="Only this method: GET or POST.", rich_help_panel=_REQUESTS
        ),
    ] = None,
    path: Annotated[
        str | None,
        typer.Option(
            metavar="GLOB", help="Only these paths, as '/v1/orders*'.", rich_help_panel=_REQUESTS
        ),
    ] = None,
    idempotency_key: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="Only with this key.", rich_help_panel=_REQUESTS),
    ] = None,
    after: Annotated[
        bool,
        typer.Option(
            "--after",
            help="Spoil the answer only: the change is made and its result stored.",
            rich_help_panel=_REQUESTS,
        ),
    ] = False,
    status: Annotated[
        int | None,
        typer.Option(
            metavar="STATUS",
            help="Answer with 429, 500, 502, 503 or 504.",
            rich_help_panel=_REQUESTS,
        ),
    ] = None,
    retry_after: Annotated[
        int | None,
        typer.Option(
            metavar="SECONDS",
            help="The header of that name, which goes with the status.",
            rich_help_panel=_REQUESTS,
        ),
    ] = None,
    body: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT|@FILE", help="A body in place of the error.", rich_help_panel=_REQUESTS
        ),
    ] = None,
    connection: Annotated[
        Connection | None,
        typer.Option(
            metavar="HOW",
            help=f"What becomes of it: one of {', '.join(get_args(Connection))}.",
            rich_help_panel=_REQUESTS,
        ),
    ] = None,
    webhook: Annotated[
        WebhookEffect | None,
        typer.Option(
            metavar="EFFECT",
            help=f"What becomes of a delivery: one of {', '.join(get_args(WebhookEffect))}.",
            rich_help_panel=_DELIVERIES,
        ),
    ] = None,
    event_type: Annotated[
        str | None,
        typer.Option(
            "--type",
            metavar="GLOB",
            help="Only these event types, as 'order.*'.",
            rich_help_panel=_DELIVERIES,
        ),
    ] = None,
    endpoint: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Only to this one, we_... .", rich_help_panel=_DELIVERIES),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="How many copies are sent of a duplicate, or how many are reordered.",
            show_default="1 copy, 2 reordered",
            rich_help_panel=_DELIVERIES,
        ),
    ] = None,
) -> None:
    """Spoil requests, or with --webhook deliveries, from now on.

    A rule lasts until it has fired, is cleared, or the sandbox is reset or stopped.
    All that can go wrong is in: svc help faults

    $ svc sandbox fault add --status 429 --retry-after 2
    $ svc sandbox fault add --status 500 --method POST --path '/v1/refunds*'
    $ svc sandbox fault add --after --connection close
    $ svc sandbox fault add --webhook duplicate --count 2
    """
    session = Session.of(ctx)
    often = without_empty(skip=skip, times=times)
    answer = without_empty(
        status=status,
        retry_after=retry_after,
        body=None if body is None else _text(session, body),
        connection=connection,
    )
    request = without_empty(method=method, path=path, idempotency_key=idempotency_key)
    delivery = without_empty(type=event_type, endpoint=endpoint)
    if webhook is None:
        _refuse(
            without_empty(delivery=delivery, count=count),
            "--type, --endpoint and --count",
            _DELIVERIES,
        )
        rule = _request_rule(
            often, request, without_empty(**answer, delay_ms=delay_ms), after=after
        )
        call = controls.add_fault(rule, API)
    else:
        own = {**answer, **request, **without_empty(after=after or None)}
        _refuse(own, f"--{', --'.join(own).replace('_', '-')}", _REQUESTS)
        spoilt = without_empty(effect=webhook, count=count, delay_ms=delay_ms)
        call = controls.add_fault(without_empty(**often, match=delivery, **spoilt), WEBHOOK)
    show(session, ask(session, call))


@verb(app, "list")
def list_(ctx: typer.Context) -> None:
    """List the rules of both kinds and how often each has fired.

    $ svc sandbox fault list
    """
    session = Session.of(ctx)
    with open_control(session) as control:
        found = [control.send(controls.faults(kind)).data["data"] for kind in (API, WEBHOOK)]
    if session.format == "human" and all(found):
        of_requests, of_deliveries = found
        session.out.value(of_requests)
        session.out.line("")
        session.out.value(of_deliveries)
        return
    every = {"object": "list", "data": [rule for each in found for rule in each], "has_more": False}
    session.out.page(json.dumps(every), every, next_command=None)


@verb(app)
def clear(
    ctx: typer.Context,
    rules: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="Only these rules, flt_...", show_default=False),
    ] = None,
) -> None:
    """Remove all rules, or some. What they hold back goes on.

    $ svc sandbox fault clear
    """
    session = Session.of(ctx)
    out = session.out
    with open_control(session) as control:
        if rules:
            for rule in rules:
                _remove(control, rule)
            removed = len(rules)
        else:
            replies = [control.send(controls.clear_faults(kind=kind)) for kind in (API, WEBHOOK)]
            removed = sum(reply.data["deleted"] for reply in replies)
    if session.format == "human":
        out.line(f"{removed} {'rule' if removed == 1 else 'rules'} removed.")
    else:
        out.value({"object": "fault", "deleted": removed})


def _request_rule(often: Body, match: Body, effect: Body, *, after: bool) -> Body:
    if not effect:
        raise UsageError(
            "Say what goes wrong.",
            hint="--status, --connection or --delay-ms; --webhook for deliveries",
        )
    return without_empty(**often, match=match, phase="after" if after else None, effect=effect)


def _refuse(given: Body, names: str, panel: str) -> None:
    if given:
        raise UsageError(
            f"A rule is for requests or for deliveries, not both: {names}.",
            hint=f"They are listed under {panel!r} in: svc sandbox fault add --help",
        )


def _text(session: Session, given: str) -> str:
    """A body as it stands, or of a file."""
    return file_reader(session.streams.stdin)(given[1:]) if given.startswith("@") else given


def _remove(control: "SandboxClient", rule: str) -> None:
    try:
        control.send(controls.clear_faults(rule, API))
    except NotFound:
        control.send(controls.clear_faults(rule, WEBHOOK))
