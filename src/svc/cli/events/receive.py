"""`svc events receive --to LOG`: receives webhooks for a team and publishes them to its shared log.

It runs a listener without targets (`run.listen_to`), whose inbox is the log, a stream on NATS
servers (`svc.listen.log`). Without `--no-copy` it also keeps each event on this machine. Members
read the log with `svc events listen --from LOG`.
"""

from pathlib import Path
from typing import Final

import typer

from svc.base_url import BaseUrl
from svc.cli.events.options import (
    BODY_SIZE,
    EVENTS,
    LOCAL_PORT,
    PRINTED,
    READY_FILE,
    EventPart,
    ListenOptions,
    TunnelOption,
    body_size,
    command_again,
    refuse_formats,
)
from svc.cli.events.run import listen_to
from svc.cli.events.secrets import read_given
from svc.cli.events.team import TO_LOG, examine, open_log, print_remark
from svc.cli.framework.app import make_app, verb
from svc.cli.framework.options import OptionSet, flag, option
from svc.cli.framework.session import Session
from svc.errors import UsageError
from svc.listen.log import checks
from svc.listen.log.address import LogAddress
from svc.listen.log.inboxes import CopiedInbox, LogInbox
from svc.listen.receiver.connection import ReceiverLimits
from svc.listen.routes import Routes, select_events

app = make_app()

LISTEN_ONLY: Final = typer.Option(None, hidden=True)


class ReceiveArguments(OptionSet):
    """What may be typed behind `svc events receive`."""

    to: str = TO_LOG
    public_url: str | None = option("URL", "The address that leads to --port.")
    tunnel: str = option(
        "HOW",
        "As for svc events listen: auto, none, cloudflared, ngrok or ssh:HOST.",
        default="auto",
    )
    port: int | None = LOCAL_PORT
    events: list[str] | None = EVENTS
    endpoint_secret_stdin: bool = flag(
        "--endpoint-secret-stdin",
        "Use an endpoint that exists: its signing secret comes on standard input, or in "
        "SVC_WEBHOOK_SECRET. Two receivers behind a balancer share one.",
    )
    max_body: str = BODY_SIZE
    log_monitor: list[str] | None = option(
        "URL",
        "The monitoring address of a server, such as http://127.0.0.1:8222, repeatable: refuse "
        "a log that acknowledges before it writes to the disk.",
    )
    no_copy: bool = flag("--no-copy", "Keep no copy on this machine's disk.")
    print_: EventPart = PRINTED
    ready_file: Path | None = READY_FILE
    forward_to: str | None = LISTEN_ONLY
    ack: str | None = LISTEN_ONLY
    group: str | None = LISTEN_ONLY


@verb(app, options=ReceiveArguments)
def receive(session: Session, arguments: ReceiveArguments) -> None:
    """Receive webhooks for a team: verify each, keep a copy, put it into a shared log.

    The service gets its 200 once a majority of the log's servers has the event on disk, and 503
    where they have not, so that it delivers the event again. Nothing is forwarded from here: that
    is what svc events listen --from does, on every laptop and in every job.

    $ svc events receive --to nats+tls://log.example.com/shop --public-url https://hooks.example.com/svc --port 8080
    """  # noqa: E501  an example is one line
    _refuse_forwarding(arguments)
    refuse_formats(session, "receive")
    address = LogAddress.parse(arguments.to, "--to")
    options = ListenOptions(
        mode=session.settings.mode,
        routes=Routes.parse(()),
        events=select_events(tuple(arguments.events or ())),
        tunnel=TunnelOption.parse(arguments.tunnel),
        public_url=BaseUrl.parse(arguments.public_url) if arguments.public_url else None,
        port=arguments.port,
        secrets=read_given(session, piped=arguments.endpoint_secret_stdin),
        limits=ReceiverLimits(body_bytes=body_size(arguments.max_body)),
        shown=arguments.print_,
        ready_file=arguments.ready_file,
        again=command_again(
            session, arguments.events or (), arguments.tunnel, arguments.public_url
        ),
        log=str(address),
    )
    with open_log(session, address) as connection:
        sync = checks.sync(arguments.log_monitor or (), len(address.hosts))
        checks.refuse(sync, "--log-monitor")
        print_remark(session, sync)
        keys = examine(
            session,
            connection,
            writes=session.base_url.origin,
            max_body=options.limits.body_bytes,
        )
        log = LogInbox(connection, session.settings.mode, keys[0])
        listen_to(
            session, options, lambda copy: log if arguments.no_copy else CopiedInbox(copy, log)
        )


def _refuse_forwarding(arguments: ReceiveArguments) -> None:
    for name in ("forward_to", "ack", "group"):
        if getattr(arguments, name) is not None:
            param = f"--{name.replace('_', '-')}"
            where = "on every machine that wants events"
            raise UsageError(
                f"receive has no {param}: it forwards nothing.",
                param=param,
                hint=f"svc events listen --from {arguments.to} does that, {where}",
            )
