"""`svc events listen`: the options and help of the command that receives and forwards webhooks.

It checks the typed options (`options`) and calls `run.listen_to`, or `from_log.listen_from` for
`--from`. `tail` calls `begin` with its own, fewer options.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from svc.base_url import BaseUrl
from svc.cli.events.options import (
    ANY_PORT,
    BODY_SIZE,
    EVENTS,
    INSPECT,
    LOCAL_PORT,
    PRINTED,
    PUBLIC_URL,
    READY_FILE,
    UNTIL_CAME,
    WHERE,
    EventPart,
    InspectAt,
    ListenOptions,
    SignedBy,
    TunnelOption,
    body_size,
    command_again,
    condition,
    refuse_formats,
)
from svc.cli.events.run import listen_to, print_secret
from svc.cli.events.secrets import read_given
from svc.cli.framework.app import Verb, make_app, verb
from svc.cli.framework.options import OptionSet, flag, option
from svc.cli.framework.session import Session
from svc.errors import UsageError
from svc.listen.commands import RUN_SECONDS, CommandTarget
from svc.listen.forward.pump import ForwardOptions
from svc.listen.forward.request import FORWARD_SECONDS, parse_header
from svc.listen.forward.retry import RetryMode
from svc.listen.plan import Ack
from svc.listen.progress import Until
from svc.listen.receiver.connection import ReceiverLimits
from svc.listen.routes import Routes, select_events
from svc.listen.targets import TargetTrust
from svc.listen.tunnels import REMOTE_PORT
from svc.service.facts import INSPECTOR_PORT

_OF_A_RECEIVER = ("tunnel", "public_url", "port", "endpoint_secret_stdin", "ack")


class ListenVerb(Verb):
    """A verb whose `--inspect` may stand without a port; Typer knows no such options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        alone = {
            index
            for index, arg in enumerate(args)
            if arg == INSPECT and (args[index + 1 : index + 2] or ["-"])[0].startswith("-")
        }
        typed = [f"{arg}={ANY_PORT}" if index in alone else arg for index, arg in enumerate(args)]
        return super().parse_args(ctx, typed)


app = make_app()

Repeatable = list[str] | None


class ListenArguments(OptionSet):
    """What may be typed behind `svc events listen`."""

    forward_to: Repeatable = option(
        "[GLOB=]URL",
        "Where to forward: 3000, :3000/hooks or a URL; repeatable. With GLOB= only those "
        "types; a target without one takes what no GLOB matches.",
    )
    run: Repeatable = option(
        "TYPE=COMMAND",
        "Run a command for each event of a type (or GLOB), without a shell, with the payload "
        "on standard input; exit code 0 takes the event. In order for each object. Repeatable.",
    )
    run_timeout: float = option(
        "SECONDS", "How long one run of a command may take.", min=0.1, default=RUN_SECONDS
    )
    events: list[str] | None = EVENTS
    where: str | None = WHERE
    tunnel: str = option(
        "HOW",
        "auto, none, cloudflared, ngrok or ssh:[USER@]HOST[:REMOTE_PORT]. auto starts "
        "none for a service on this machine, else cloudflared or ngrok, whichever is "
        f"installed. With ssh, port REMOTE_PORT ({REMOTE_PORT} if left out) of 127.0.0.1 on "
        "HOST leads here; your web server on HOST serves it as https://HOST, or as "
        "--public-url says.",
        default="auto",
    )
    public_url: str | None = PUBLIC_URL
    port: int | None = LOCAL_PORT
    endpoint_secret_stdin: bool = flag(
        "--endpoint-secret-stdin",
        "Use an endpoint that exists: its signing secret comes on standard input, or in "
        "SVC_WEBHOOK_SECRET.",
    )
    ack: Ack = option("WHEN", "Answer the service when received or forwarded.", default="received")
    concurrency: int = option(
        "N", "How many a target or command gets at a time.", min=1, max=256, default=8
    )
    ordered: bool = flag("--ordered", "Forward one at a time for each data.object.id.")
    forward_timeout: float = option(
        "SECONDS", "How long one forward may take.", min=0.1, default=FORWARD_SECONDS
    )
    retry: RetryMode = option(
        "HOW",
        "fast waits for a target that is away, and tries again after no answer, 408, 425, "
        "429 and 5xx: in 2 s, 10 s, 1 min, 10 min, then each hour, and once the "
        "target has taken another event; real keeps the service's schedule; off tries once.",
        default="fast",
    )
    header: Repeatable = option("'NAME: VALUE'", "A header to send along; repeatable.")
    allow_remote_forward: bool = flag("--allow-remote-forward", "Forward to other machines too.")
    insecure_target: bool = flag(
        "--insecure-target",
        "Take any certificate of a target on this machine or at a private address.",
    )
    original_signature: bool = flag(
        "--original-signature",
        "Forward late events as they were signed; by default those of over {late_minutes} "
        "minutes ago are signed anew.",
    )
    max_body: str = BODY_SIZE
    print_: EventPart = PRINTED
    inspect: str | None = option(
        "[PORT]",
        "Serve a page on this machine that shows every delivery and sends it again.",
        show_default=f"port {INSPECTOR_PORT}",
    )
    until: str | None = UNTIL_CAME
    timeout: float | None = option(
        "SECONDS", "End after so long, with 11 if --until or --exec was not done.", min=0
    )
    ready_file: Path | None = READY_FILE
    exec_: str | None = option(
        "CMD",
        "Have the shell run CMD once ready, with SVC_WEBHOOK_SECRET and without SVC_API_KEY, "
        "and end with it; with --until, when the events have come too. Exit 11 if CMD fails.",
        "--exec",
    )
    strict: bool = flag("--strict", "Exit 11 if a delivery was rejected or not forwarded.")
    no_resume: bool = flag(
        "--no-resume", "Leave alone what an earlier run could not forward; it is kept."
    )
    adopt: bool = flag("--adopt", "Take over events that wait for targets of earlier runs.")
    from_: str | None = option(
        "LOG",
        "Read a team's log, nats+tls://HOST/NAME, that svc events receive fills; nothing "
        "is registered, and no tunnel is needed.",
        "--from",
    )
    group: str | None = option(
        "NAME", "With --from: share a queue; each event goes to one of the group."
    )
    from_start: str = option(
        "WHEN",
        "With --from, where the first run begins: now, all, 2h (ago) or today.",
        default="now",
    )
    name: str | None = option("NAME", "With --from: this reader's name.", show_default="the user's")
    signature: SignedBy = option(
        "WHOSE",
        "With --from: own, made anew with this machine's secret; or original, which an "
        "app refuses after {signature_minutes} minutes.",
        default="own",
    )
    secret_only: bool = flag("--print-secret", "Print the signing secret and end.")


@verb(app, cls=ListenVerb, options=ListenArguments)
def listen(session: Session, arguments: ListenArguments) -> None:
    """Receive webhooks, verify each over its raw bytes, keep, show and forward it.

    Every delivery that verifies is kept on disk before the service gets its answer; what could not
    be forwarded is forwarded when the target, or this command, is back.

    $ svc events listen --forward-to 3000/webhooks --inspect
    $ svc events listen --forward-to 'order.*=:3000/orders' --forward-to :3000/rest
    $ svc events listen --forward-to 3000 --until order.paid --timeout 60 --exec 'pytest -q'
    $ svc events listen --run 'order.paid=./fulfil.sh' --run-timeout 30
    $ svc events listen --from nats+tls://log.example.com/shop --forward-to 3000
    $ svc events listen -o ndjson | jq -r 'select(.record == "event").id'
    """
    begin(session, arguments)


def begin(session: Session, arguments: ListenArguments, verb: str = "listen") -> None:
    """Runs a listener, or with --print-secret prints its secret; `verb` is `listen` or `tail`."""
    if not arguments.secret_only:
        refuse_formats(session, verb)
    options = _check(session, arguments)
    if arguments.from_ is not None:
        _listen_to_log(session, arguments, arguments.from_, options)
    elif alien := _find_typed(arguments, "group", "from_start", "name", "signature"):
        raise UsageError(f"{alien} is for events of a team's log: --from.", param=alien)
    elif arguments.secret_only:
        print_secret(session, options)
    else:
        listen_to(session, options)


def _check(session: Session, arguments: ListenArguments) -> ListenOptions:
    events = select_events(tuple(arguments.events or ()))
    routes = _routes(session, arguments)
    return ListenOptions(
        mode=session.settings.mode,
        routes=routes,
        events=events,
        tunnel=TunnelOption.parse(arguments.tunnel),
        public_url=BaseUrl.parse(arguments.public_url) if arguments.public_url else None,
        port=arguments.port,
        secrets=read_given(session, piped=arguments.endpoint_secret_stdin),
        ack=arguments.ack,
        forwarding=ForwardOptions(
            concurrency=arguments.concurrency,
            ordered=arguments.ordered or (routes.has_commands and arguments.group is None),
            retry=arguments.retry,
            seconds=arguments.forward_timeout,
        ),
        headers=tuple(parse_header(text) for text in arguments.header or ()),
        limits=ReceiverLimits(body_bytes=body_size(arguments.max_body)),
        shown=arguments.print_,
        inspect=InspectAt.parse(arguments.inspect),
        until=Until.parse(arguments.until, events) if arguments.until else None,
        timeout=arguments.timeout,
        ready_file=arguments.ready_file,
        command=arguments.exec_,
        has_child_process=arguments.exec_ is not None,
        strict=arguments.strict,
        resume=not arguments.no_resume,
        again=command_again(
            session, arguments.events or (), arguments.tunnel, arguments.public_url, arguments.from_
        ),
        only=frozenset(events) if arguments.events else None,
        signs="original" if arguments.original_signature else "late",
        trust=TargetTrust(session.settings.ca_bundle, arguments.insecure_target),
        adopt=arguments.adopt,
        where=condition(arguments.where),
    )


def _routes(session: Session, arguments: ListenArguments) -> Routes:
    return Routes.parse(
        tuple(arguments.forward_to or ()),
        allow_remote=arguments.allow_remote_forward,
        runs=tuple(arguments.run or ()),
        command=lambda text: CommandTarget.parse(text, session.env, arguments.run_timeout),
    )


def _find_typed(arguments: ListenArguments, *names: str) -> str | None:
    """Returns the first of some options that was typed, as it is typed; None if there is none."""
    typed = (name for name in names if getattr(arguments, name) != getattr(ListenArguments, name))
    return next((f"--{name.replace('_', '-')}" for name in typed), None)


def _listen_to_log(
    session: Session, arguments: ListenArguments, address: str, options: ListenOptions
) -> None:
    """Listens to a team's log, or prints the secret for it; raises UsageError."""
    # What a log needs is loaded only here.
    from svc.cli.events.from_log import listen_from, print_own_secret
    from svc.cli.events.team import read_log

    if alien := _find_typed(arguments, *_OF_A_RECEIVER):
        raise UsageError(
            f"{alien} belongs to who receives from the service; --from reads what is in a log.",
            param=alien,
            hint="Give it to svc events receive",
        )
    if arguments.group is not None and arguments.where is not None:
        raise UsageError(
            "--where with --group would lose what this job does not want.",
            param="--where",
            hint="Share the queue without --where, or read without --group",
        )
    log = read_log(session, address, arguments.group, arguments.from_start, arguments.name)
    log = replace(log, signs_anew=arguments.signature == "own")
    if arguments.secret_only:
        print_own_secret(session, log)
    else:
        listen_from(session, options, log)
