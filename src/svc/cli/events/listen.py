"""`svc events listen`: receive webhooks, verify each, keep it, answer, show and forward it."""

from pathlib import Path
from typing import Annotated

import typer

from svc.base_url import BaseUrl
from svc.cli.events.inspect import InspectAt, ListenVerb
from svc.cli.events.options import (
    Ack,
    ListenOptions,
    Shown,
    body_size,
    command_again,
    given_secrets,
    refuse_formats,
    shell_command,
)
from svc.cli.events.run import listen_to, print_secret
from svc.cli.framework.app import new_app
from svc.cli.framework.session import Session
from svc.listen.forward.request import parse_header
from svc.listen.forward.retry import Retry
from svc.listen.forward.target_queue import ForwardOptions
from svc.listen.progress import Until
from svc.listen.receiver.connection import ReceiverLimits
from svc.listen.routes import Routes, select_events
from svc.listen.tunnels.option import TunnelOption

app = new_app()

Repeatable = list[str] | None


@app.command(cls=ListenVerb)
def listen(
    ctx: typer.Context,
    forward_to: Annotated[
        Repeatable,
        typer.Option(
            metavar="[GLOB=]URL",
            help="Where to forward: 3000, :3000/hooks or a URL; repeatable. With GLOB= only those "
            "types; a target without one takes what no GLOB matches.",
        ),
    ] = None,
    events: Annotated[
        Repeatable, typer.Option(metavar="TYPE|GLOB", help="Repeatable, or a,b. Default: all 18.")
    ] = None,
    tunnel: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="auto, none, cloudflared, ngrok or ssh:[USER@]HOST[:REMOTE_PORT]. auto starts "
            "none for a service on this machine, else cloudflared or ngrok, as installed. ssh has "
            "port REMOTE_PORT (4243) of 127.0.0.1 at HOST lead here; your web server there makes "
            "it https://HOST, or what --public-url says.",
        ),
    ] = "auto",
    public_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Address of a tunnel that you run to --port."),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(metavar="PORT", min=1, max=65535, help="Local port; default: the last one."),
    ] = None,
    endpoint_secret_stdin: Annotated[
        bool,
        typer.Option(
            "--endpoint-secret-stdin",
            help="Use an endpoint that exists: its signing secret comes on standard input, or in "
            "SVC_WEBHOOK_SECRET.",
        ),
    ] = False,
    ack: Annotated[
        Ack, typer.Option(metavar="WHEN", help="Answer the service when received, or forwarded.")
    ] = "received",
    concurrency: Annotated[
        int, typer.Option(metavar="N", min=1, max=256, help="Forwards at once to one target.")
    ] = 8,
    ordered: Annotated[
        bool, typer.Option("--ordered", help="One at a time for each data.object.id.")
    ] = False,
    forward_timeout: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="Limit of one forward.")
    ] = 8.0,
    retry: Annotated[
        Retry,
        typer.Option(
            metavar="HOW",
            help="fast: wait for a target that is away, HTTP errors are final; real: the "
            "service's schedule; off.",
        ),
    ] = "fast",
    header: Annotated[
        Repeatable, typer.Option(metavar="'NAME: VALUE'", help="Sent along; repeatable.")
    ] = None,
    allow_remote_forward: Annotated[
        bool, typer.Option("--allow-remote-forward", help="Forward to other machines too.")
    ] = False,
    max_body: Annotated[str, typer.Option(metavar="SIZE", help="Largest body taken.")] = "1MiB",
    print_: Annotated[
        Shown, typer.Option("--print", metavar="WHAT", help="summary, payload or none.")
    ] = "summary",
    inspect: Annotated[
        str | None,
        typer.Option(
            metavar="[PORT]",
            help="Serve a page on this machine that shows every delivery and sends it again; "
            "default: port 4244.",
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="TYPE[:N]", help="End after N events of a type (or GLOB) have come."),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="End after so long; exit 11 if --until or --exec was not done.",
        ),
    ] = None,
    ready_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Written when ready, removed at the end.")
    ] = None,
    exec_: Annotated[
        str | None,
        typer.Option(
            "--exec",
            metavar="CMD",
            help="Have the shell run CMD once ready, with SVC_WEBHOOK_SECRET set, and end with it; "
            "with --until, when the events have come too. If CMD fails: exit 11.",
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 11 if a delivery was rejected or not forwarded.")
    ] = False,
    no_resume: Annotated[
        bool,
        typer.Option(
            "--no-resume", help="Leave alone what an earlier run could not forward; it is kept."
        ),
    ] = False,
    print_secret_: Annotated[
        bool, typer.Option("--print-secret", help="Print the signing secret and end.")
    ] = False,
) -> None:
    """Receive webhooks, verify each over its raw bytes, keep, show and forward it.

    Every delivery that verifies is kept on disk before the service gets its answer; what could not
    be forwarded is forwarded when the target, or this command, is back.

    $ svc events listen --forward-to 3000/webhooks --inspect
    $ svc events listen --forward-to 'order.*=:3000/orders' --forward-to :3000/rest
    $ svc events listen --forward-to 3000 --until order.paid --timeout 60 --exec 'pytest -q'
    $ svc events listen -o ndjson | jq -r 'select(.record == "event").id'
    """
    session = Session.of(ctx)
    if not print_secret_:
        refuse_formats(session, "listen")
    options = ListenOptions(
        routes=Routes.parse(tuple(forward_to or ()), allow_remote=allow_remote_forward),
        events=select_events(tuple(events or ())),
        tunnel=TunnelOption.parse(tunnel),
        public_url=BaseUrl.parse(public_url) if public_url else None,
        port=port,
        secrets=given_secrets(session, piped=endpoint_secret_stdin),
        ack=ack,
        manner=ForwardOptions(
            concurrency=concurrency, ordered=ordered, retry=retry, seconds=forward_timeout
        ),
        headers=tuple(parse_header(text) for text in header or ()),
        limits=ReceiverLimits(body_bytes=body_size(max_body)),
        shown=print_,
        inspect=InspectAt.parse(inspect),
        until=Until.parse(until) if until else None,
        timeout=timeout,
        ready_file=ready_file,
        command=shell_command(exec_),
        strict=strict,
        resume=not no_resume,
        again=command_again(session, events or (), tunnel, public_url),
    )
    if print_secret_:
        print_secret(session, options)
    else:
        listen_to(session, options)
