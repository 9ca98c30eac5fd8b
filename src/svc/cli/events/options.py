"""Parses and checks the options of `svc events listen`, before anything is opened or sent.

`listen` and `receive` build a `ListenOptions` of the typed options; `run`, `from_log`, `endpoint`,
`link`, `loop` and `screen` read it. `examine`, `replay`, `inbox` and `tail` share single
options and checks.
"""

import ipaddress
import json
import re
import shlex
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, cast, get_args

from svc.base_url import BaseUrl
from svc.cli.framework.options import option
from svc.cli.framework.session import Session
from svc.client.call import check_id
from svc.errors import UsageError, build_wrong_choice
from svc.json_text import parse_any
from svc.listen.commands import CommandTarget
from svc.listen.plan import ListenerPlan
from svc.listen.routes import AnyTarget
from svc.listen.targets import IpAddress, Target
from svc.listen.tunnels.ssh import SshDestination
from svc.service.facts import EVENT_TYPES, INSPECTOR_PORT, WEBHOOK_BODY_MAX
from svc.system import PORT_MAX

EventPart = Literal["summary", "payload", "none"]
SignedBy = Literal["own", "original"]

EVENTS: Final[list[str] | None] = option(
    "TYPE|GLOB",
    "Event types; repeatable, or several as a,b.",
    "--events",
    show_default=f"all {len(EVENT_TYPES)}",
)
LOCAL_PORT: Final[int | None] = option(
    "PORT", "The local port.", "--port", min=1, max=PORT_MAX, show_default="the last one"
)
BODY_SIZE: Final = option("SIZE", "The largest body that is taken.", "--max-body", default="1MiB")
PRINTED: Final[EventPart] = option(
    "WHAT",
    "What to print of an event: summary, payload (in JSON beside its bytes), or none, which "
    "also leaves out forwards that went well.",
    "--print",
    default="summary",
)
PUBLIC_URL: Final[str | None] = option("URL", "A tunnel of yours that leads to --port.")
UNTIL_CAME: Final[str | None] = option(
    "TYPE[:N]", "End after N events of a type (or GLOB) have come."
)
READY_FILE: Final[Path | None] = option(
    "FILE", "A file to write when ready and to remove at the end.", "--ready-file"
)


WHERE: Final[str | None] = option(
    "EXPR", "Only events that meet this, in JMESPath: 'data.object.amount > `10000`'."
)
Meets = Callable[[bytes], bool]

INSPECT: Final = "--inspect"
ANY_PORT: Final = "default"  # where --inspect stands without one
_SIZE: Final = re.compile(r"([0-9]{1,9})(B|KiB|MiB)?")
_UNITS: Final = {None: 1, "B": 1, "KiB": 1024, "MiB": 1024 * 1024}


TunnelKind = Literal["auto", "none", "cloudflared", "ngrok", "ssh"]

_TUNNELS: Final = (*get_args(TunnelKind)[:-1], "ssh:[USER@]HOST[:REMOTE_PORT]")
_SSH: Final = "ssh:"


@dataclass(frozen=True, slots=True)
class TunnelOption:
    """The parsed `--tunnel`; only ssh has a `destination`."""

    kind: TunnelKind
    destination: SshDestination | None = None

    @classmethod
    def parse(cls, text: str) -> "TunnelOption":
        """Reads `auto`, `none`, `cloudflared`, `ngrok` or `ssh:[USER@]HOST[:REMOTE_PORT]`.

        Raises:
            UsageError: it is none of them.
        """
        if text.startswith(_SSH):
            return cls("ssh", SshDestination.parse(text.removeprefix(_SSH)))
        if text not in _TUNNELS[:-1]:
            raise build_wrong_choice("--tunnel", text, _TUNNELS)
        return cls(cast("TunnelKind", text))


@dataclass(frozen=True, slots=True)
class InspectAt:
    """The parsed `--inspect`; a `port` of None means the usual port, or any that is free."""

    port: int | None

    @classmethod
    def parse(cls, text: str | None) -> "InspectAt | None":
        """Reads the option's value; None is an option that was not given.

        Raises:
            UsageError: it is not a port.
        """
        if text is None:
            return None
        if text == ANY_PORT:
            return cls(None)
        if not (text.isascii() and text.isdigit() and int(text) <= PORT_MAX):
            raise UsageError(
                f"{INSPECT} {text!r} is not a port.",
                param=INSPECT,
                hint=f"Give 1 to {PORT_MAX}, 0 for a free one, or none for {INSPECTOR_PORT}",
            )
        return cls(int(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenOptions(ListenerPlan):
    """The checked options of a listener: its plan as far as they say it, and what is around it.

    `secrets` are those of an endpoint that the user registered, `also` more secrets of the
    listener's own endpoint. `again` is the command that leads to the same endpoint. `adopt`: events
    that wait for other targets go to these. `log` is the address of a team's log that deliveries go
    into.
    """

    tunnel: TunnelOption
    public_url: BaseUrl | None
    port: int | None
    shown: EventPart
    again: str
    inspect: InspectAt | None = None
    command: str | None = None
    strict: bool = False
    adopt: bool = False
    log: str | None = None
    also: tuple[str, ...] = ()


def refuse_formats(session: Session, verb: str) -> None:
    """Refuses formats and --query, which records printed one by one cannot have: UsageError."""
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


def command_again(
    session: Session,
    events: Iterable[str],
    tunnel: str,
    public_url: str | None,
    log: str | None = None,
) -> str:
    """Builds the `svc events listen` command line that leads to the same endpoint."""
    everywhere = session.given.everywhere
    words = ["svc", "events", "listen", *(("--from", log) if log else ())]
    for name, value in (("--profile", everywhere.profile), ("--base-url", everywhere.base_url)):
        words += [name, value] if value else []
    words += ["--live"] if everywhere.live else []
    words += [word for text in events for word in ("--events", text)]
    words += ["--tunnel", tunnel] if tunnel != "auto" else []
    words += ["--public-url", public_url] if public_url else []
    return shlex.join(words)


def body_size(text: str) -> int:
    """Reads `--max-body` as bytes; raises UsageError."""
    match = _SIZE.fullmatch(text)
    size = int(match[1]) * _UNITS[match[2]] if match else 0
    if not 0 < size <= WEBHOOK_BODY_MAX:
        raise UsageError(
            f"--max-body {text!r} is not a size from 1 to 1MiB.",
            param="--max-body",
            hint="Write it as 262144, 256KiB or 1MiB; nothing larger is ever verified",
        )
    return size


def check_targets(targets: Iterable[AnyTarget]) -> None:
    """Refuses targets that are not on this machine; each connection checks its address again.

    Raises:
        UsageError: a host name is unknown or leads to another machine without
            --allow-remote-forward, or a command cannot be run.
    """
    for target in targets:
        if isinstance(target, CommandTarget):
            target.check()
            continue
        addresses = _addresses(target)
        if not addresses and not target.allow_remote:
            raise _refusal(target, "its host name is not known here, so it is not this machine")
        for address in addresses:
            if not target.allows(address):
                where = "which must never be reached" if target.allow_remote else "not this machine"
                raise _refusal(target, f"{target.host} leads to {address}, {where}")


def _addresses(target: Target) -> list[IpAddress]:
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


def condition(where: str | None) -> Meets | None:
    """Compiles `--where` to a check of an event's body; None without it. Raises UsageError."""
    if where is None:
        return None
    from svc.render.query import Condition

    return Condition(where, "--where")


def content_filter(where: str | None, text: str | None, object_id: str | None) -> Meets | None:
    """Joins `--where`, `--text` and `--object` to one check of an event's body; None without any.

    Raises:
        UsageError: the expression or the id is invalid.
    """
    asked = [condition(where)] if where is not None else []
    if object_id is not None:
        named = json.dumps(check_id(object_id, "--object")).encode()
        asked.append(lambda body: named in body)
    if text is not None:
        words = text.casefold()
        asked.append(lambda body: words in _decode_body(body).casefold())
    every = [each for each in asked if each is not None]
    return (lambda body: all(meets(body) for meets in every)) if every else None


def _decode_body(body: bytes) -> str:
    """A body as a person reads it, without JSON's escapes."""
    found = parse_any(body)
    plain = body.decode("utf-8", "replace")
    return plain if found is None else json.dumps(found, ensure_ascii=False)
