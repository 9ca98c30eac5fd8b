"""`svc sandbox fault add`, `list` and `clear`: requests or deliveries that fail on purpose.

Options are turned into a rule, which a control of the running sandbox adds (`svc.sandbox.faults`).
"""

import json
from functools import partial
from typing import Final, get_args

from svc.cli.framework.app import make_noun, verb
from svc.cli.framework.control import ask, open_control, show
from svc.cli.framework.inputs import BodyFields, without_empty
from svc.cli.framework.options import OptionSet, argument, flag, option
from svc.cli.framework.session import Session
from svc.client.call import Call
from svc.client.sandbox import control_call
from svc.errors import NotFound, UsageError, build_wrong_choice
from svc.sandbox.faults import METHODS, STATUSES, ConnectionFault, WebhookEffect

API: Final = "faults"
WEBHOOK: Final = "webhook_faults"

app = make_noun("Have requests and webhook deliveries go wrong on purpose.")

_REQUESTS: Final = "For API requests"
_DELIVERIES: Final = "For webhook deliveries"
_of_requests: Final = partial(option, rich_help_panel=_REQUESTS)
_of_deliveries: Final = partial(option, rich_help_panel=_DELIVERIES)


class FaultArguments(OptionSet):
    """What may be typed behind `svc sandbox fault add`."""

    skip: int | None = option("N", "Let N matching ones pass first.", show_default="0")
    times: int | None = option("N", "Then break N of them.", show_default="1")
    delay_ms: int | None = option(
        "MS", "Answer or deliver so many real milliseconds later, beside any other effect."
    )
    method: str | None = _of_requests("METHOD", f"Only this method: {' or '.join(METHODS)}.")
    path: str | None = _of_requests("GLOB", "Only these paths, such as '/v1/orders*'.")
    idempotency_key: str | None = _of_requests("KEY", "Only with this key.")
    api_key: str | None = _of_requests("KEY", "Only by this key of the sandbox.")
    order: str | None = option("ID", "Only about this order, ord_...")
    after: bool = flag(
        "--after",
        "Break the answer only: the change is made and its result stored.",
        rich_help_panel=_REQUESTS,
    )
    status: int | None = _of_requests("STATUS", "Answer with 429, 500, 502, 503 or 504.")
    retry_after: int | None = _of_requests(
        "SECONDS", "The header of that name, which goes with the status."
    )
    body: str | None = _of_requests("TEXT|@FILE", "A body in place of the error.")
    connection: ConnectionFault | None = _of_requests(
        "HOW", f"What becomes of the connection: one of {', '.join(get_args(ConnectionFault))}."
    )
    webhook: WebhookEffect | None = _of_deliveries(
        "EFFECT", f"What becomes of a delivery: one of {', '.join(get_args(WebhookEffect))}."
    )
    event_type: str | None = _of_deliveries(
        "GLOB", "Only these event types, such as 'order.*'.", "--type"
    )
    endpoint: str | None = _of_deliveries("ID", "Only to this endpoint, we_...")
    count: int | None = _of_deliveries(
        "N",
        "How many copies are sent of a duplicate, or how many are reordered.",
        show_default="1 copy, 2 reordered",
    )


@verb(app, options=FaultArguments)
def add(session: Session, arguments: FaultArguments) -> None:
    """Spoil requests, or with --webhook deliveries, from now on.

    A rule lasts until it has fired, is cleared, or the sandbox is reset or stopped.
    All that can go wrong is in: svc help faults

    $ svc sandbox fault add --status 429 --retry-after 2
    $ svc sandbox fault add --status 500 --method POST --path '/v1/refunds*'
    $ svc sandbox fault add --after --connection close
    $ svc sandbox fault add --webhook duplicate --count 2
    """
    show(session, ask(session, _build_addition(session, arguments)))


def _build_addition(session: Session, arguments: FaultArguments) -> Call:
    """The call that adds the rule; what is for the other kind is refused."""
    if arguments.status is not None and arguments.status not in STATUSES:
        raise build_wrong_choice("--status", str(arguments.status), map(str, STATUSES))
    often = without_empty(skip=arguments.skip, times=arguments.times)
    answer = without_empty(
        status=arguments.status,
        retry_after=arguments.retry_after,
        body=None if arguments.body is None else _text(session, arguments.body),
        connection=arguments.connection,
    )
    request = without_empty(
        method=arguments.method,
        path=arguments.path,
        idempotency_key=arguments.idempotency_key,
        api_key=arguments.api_key,
    )
    delivery = without_empty(type=arguments.event_type, endpoint=arguments.endpoint)
    order = without_empty(order=arguments.order)
    if arguments.webhook is None:
        _refuse(
            without_empty(delivery=delivery, count=arguments.count),
            "--type, --endpoint and --count",
            _DELIVERIES,
        )
        rule = _request_rule(
            often,
            {**request, **order},
            without_empty(**answer, delay_ms=arguments.delay_ms),
            after=arguments.after,
        )
        return control_call("POST", API, body=rule)
    own = {**answer, **request, **without_empty(after=arguments.after or None)}
    _refuse(own, f"--{', --'.join(own).replace('_', '-')}", _REQUESTS)
    spoilt = without_empty(
        effect=arguments.webhook, count=arguments.count, delay_ms=arguments.delay_ms
    )
    return control_call(
        "POST", WEBHOOK, body=without_empty(**often, match={**delivery, **order}, **spoilt)
    )


@verb(app, "list")
def list_(session: Session) -> None:
    """List the rules of both kinds and how often each has fired.

    $ svc sandbox fault list
    """
    with open_control(session) as control:
        found = [control.send(control_call("GET", kind)).data["data"] for kind in (API, WEBHOOK)]
    if session.format == "human" and all(found):
        of_requests, of_deliveries = found
        session.out.value(of_requests)
        session.out.line("")
        session.out.value(of_deliveries)
        return
    every = {"object": "list", "data": [rule for each in found for rule in each], "has_more": False}
    session.out.answer(json.dumps(every), every, kind="fault")


@verb(app)
def clear(
    session: Session,
    rules: list[str] | None = argument("[ID]...", "Only these rules, flt_...", default=None),
) -> None:
    """Remove all rules, or some. What they hold back goes on.

    $ svc sandbox fault clear
    """
    out = session.out
    with open_control(session) as control:
        if rules:
            for rule in rules:
                try:
                    control.send(control_call("DELETE", API, rule))
                except NotFound:
                    control.send(control_call("DELETE", WEBHOOK, rule))
            removed = len(rules)
        else:
            replies = [control.send(control_call("DELETE", kind)) for kind in (API, WEBHOOK)]
            removed = sum(reply.data["deleted"] for reply in replies)
    said = f"{removed} {'rule' if removed == 1 else 'rules'} removed."
    out.result({"object": "fault", "deleted": removed}, said)


def _request_rule(
    often: BodyFields, match: BodyFields, effect: BodyFields, *, after: bool
) -> BodyFields:
    if not effect:
        raise UsageError(
            "No fault is given.",
            hint="--status, --connection or --delay-ms; --webhook for deliveries",
        )
    return without_empty(**often, match=match, phase="after" if after else None, effect=effect)


def _refuse(arguments: BodyFields, names: str, panel: str) -> None:
    if arguments:
        raise UsageError(
            f"A rule is for requests or for deliveries, not both: {names}.",
            hint=f"They are listed under {panel!r} in: svc sandbox fault add --help",
        )


def _text(session: Session, arguments: str) -> str:
    """A body as it stands, or of a file."""
    return session.read_file(arguments[1:]) if arguments.startswith("@") else arguments
