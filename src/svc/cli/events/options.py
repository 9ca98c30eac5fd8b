"""What `svc events listen` was asked for, checked before anything is opened or sent."""

import ipaddress
import re
import shlex
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, cast, get_args

from svc.base_url import BaseUrl
from svc.cli.events.inspect import InspectAt
from svc.cli.events.secrets import from_environment, from_stdin
from svc.cli.framework.session import Session
from svc.errors import UsageError
from svc.listen.forward.request import HeaderText, parse_header
from svc.listen.forward.retry import Retry
from svc.listen.forward.target_queue import ForwardOptions
from svc.listen.progress import Until
from svc.listen.receiver.connection import ReceiverLimits
from svc.listen.routes import Routes, select_events
from svc.listen.targets import Address, Target
from svc.listen.tunnels.option import TunnelOption
from svc.spec import WEBHOOK_BODY_MAX

Shown = Literal["summary", "payload", "none"]
Ack = Literal["received", "forwarded"]
SignedBy = Literal["own", "original"]

_SIZE: Final = re.compile(r"([0-9]{1,9})(B|KiB|MiB)?")
_UNITS: Final = {None: 1, "B": 1, "KiB": 1024, "MiB": 1024 * 1024}


@dataclass(frozen=True, slots=True)
class Given:
    """The options as they stand on the command line of `verb`.

    `log` is the address of a team's log that events go into or come from.
    """

    forward_to: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    tunnel: str = "auto"
    public_url: str | None = None
    port: int | None = None
    secret_stdin: bool = False
    ack: str = "received"
    concurrency: int = 8
    ordered: bool = False
    forward_timeout: float = 8.0
    retry: str = "fast"
    headers: tuple[str, ...] = ()
    allow_remote: bool = False
    max_body: str = "1MiB"
    shown: str = "summary"
    inspect: str | None = None
    until: str | None = None
    timeout: float | None = None
    ready_file: Path | None = None
    command: str | None = None
    strict: bool = False
    resume: bool = True
    new_secret_stdin: bool = False
    print_secret: bool = False
    verb: Literal["listen", "receive"] = "listen"
    log: str | None = None
    signature: str = "own"


@dataclass(frozen=True, slots=True)
class ListenOptions:
    """The same, read.

    `secrets` are those of an endpoint that exists already, `new_secret` has replaced that of our
    own endpoint. `again` is the command that leads to the same endpoint. `chosen` says that the
    event types were named. `log` is the address of a team's log, if there is one.
    """

    routes: Routes
    events: tuple[str, ...]
    tunnel: TunnelOption
    public_url: BaseUrl | None
    port: int | None
    secrets: tuple[str, ...]
    ack: Ack
    manner: ForwardOptions
    headers: tuple[HeaderText, ...]
    limits: ReceiverLimits
    shown: Shown
    inspect: InspectAt | None
    until: Until | None
    timeout: float | None
    ready_file: Path | None
    command: str | None
    strict: bool
    resume: bool
    new_secret: str | None
    again: str
    chosen: bool = False
    log: str | None = None
    signature: SignedBy = "own"


def read(session: Session, given: Given) -> ListenOptions:
    """Reads the options; standard input only where it is asked for.

    Raises:
        UsageError: a value is wrong; names the option and what it takes.
    """
    if not given.print_secret:
        refuse_formats(session, given.verb)
    return ListenOptions(
        routes=Routes.parse(given.forward_to, allow_remote=given.allow_remote),
        events=select_events(given.events),
        tunnel=TunnelOption.parse(given.tunnel),
        public_url=BaseUrl.parse(given.public_url) if given.public_url else None,
        port=given.port,
        secrets=from_stdin(session) if given.secret_stdin else from_environment(session.env),
        ack=cast("Ack", _one_of("--ack", given.ack, get_args(Ack))),
        manner=ForwardOptions(
            concurrency=given.concurrency,
            ordered=given.ordered,
            retry=cast("Retry", _one_of("--retry", given.retry, get_args(Retry))),
            seconds=given.forward_timeout,
        ),
        headers=tuple(parse_header(text) for text in given.headers),
        limits=ReceiverLimits(body_bytes=_size(given.max_body)),
        shown=cast("Shown", _one_of("--print", given.shown, get_args(Shown))),
        inspect=InspectAt.parse(given.inspect),
        until=Until.parse(given.until) if given.until else None,
        timeout=given.timeout,
        ready_file=given.ready_file,
        command=_command(given.command),
        strict=given.strict,
        resume=given.resume,
        new_secret=_new_secret(session, given),
        again=_again(session, given),
        chosen=bool(given.events),
        log=given.log,
        signature=cast("SignedBy", _one_of("--signature", given.signature, get_args(SignedBy))),
    )


def _again(session: Session, given: Given) -> str:
    everywhere = session.given.everywhere
    words = ["svc", "events", "listen"]
    words += ["--from", given.log] if given.log and given.verb == "listen" else []
    for option, value in (("--profile", everywhere.profile), ("--base-url", everywhere.base_url)):
        words += [option, value] if value else []
    words += ["--live"] if everywhere.live else []
    words += [word for text in given.events for word in ("--events", text)]
    words += ["--tunnel", given.tunnel] if given.tunnel != "auto" else []
    words += ["--public-url", given.public_url] if given.public_url else []
    return shlex.join(words)


def refuse_formats(session: Session, verb: str) -> None:
    """Refuses what records that are printed as they come cannot be; raises UsageError."""
    if session.format in ("csv", "id"):
        raise UsageError(
            f"{verb} cannot print {session.format}.",
            param="--output",
            hint="Use -o human, -o ndjson, or -o json for one array of the same records",
        )
    if session.given.everywhere.query or session.given.everywhere.fields:
        raise UsageError(
            f"{verb} prints records as they come; --query and --fields need a whole result.",
            hint="Pipe -o ndjson into jq",
        )


def _new_secret(session: Session, given: Given) -> str | None:
    if not given.new_secret_stdin:
        return None
    if given.secret_stdin:
        raise UsageError(
            "--new-secret-stdin and --endpoint-secret-stdin exclude each other.",
            param="--new-secret-stdin",
        )
    first, *more = from_stdin(session)
    if more:
        raise UsageError("Standard input holds two secrets.", param="--new-secret-stdin")
    return first


def _one_of(option: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise UsageError(
            f"{option} is {value!r}.", param=option, hint=f"Use one of: {', '.join(allowed)}"
        )
    return value


def _size(text: str) -> int:
    match = _SIZE.fullmatch(text)
    size = int(match[1]) * _UNITS[match[2]] if match else 0
    if not 0 < size <= WEBHOOK_BODY_MAX:
        raise UsageError(
            f"--max-body {text!r} is no size from 1 to 1MiB.",
            param="--max-body",
            hint="Write it as 262144, 256KiB or 1MiB; nothing larger is ever verified",
        )
    return size


def _command(text: str | None) -> str | None:
    if text is not None and not text.strip():
        raise UsageError("--exec is empty.", param="--exec", hint="Give a command for the shell")
    return text


def check_targets(targets: Iterable[Target]) -> None:
    """Refuses names that lead elsewhere; the address is checked once more at every connection.

    Raises:
        UsageError: a name is not known, or leads to another machine without the option for it.
    """
    for target in targets:
        addresses = _addresses(target)
        if not addresses and not target.allow_remote:
            raise _refusal(target, "its host name is not known here, so it is not this machine")
        for address in addresses:
            if not target.allows(address):
                where = "which must never be reached" if target.allow_remote else "not this machine"
                raise _refusal(target, f"{target.host} leads to {address}, {where}")


def _addresses(target: Target) -> list[Address]:
    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return [ipaddress.ip_address(info[4][0]) for info in found]


def _refusal(target: Target, why: str) -> UsageError:
    hint = None
    if not target.allow_remote:
        hint = "Forward to this machine, or add --allow-remote-forward if it is yours."
    return UsageError(f"Cannot forward to {target}: {why}.", param="--forward-to", hint=hint)
