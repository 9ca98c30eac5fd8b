"""What the commands of a team's log share: its address, who one is there, and what is looked at."""

import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Final

from svc.api_keys import LOG_VARIABLE
from svc.cli.events.secrets import place_of
from svc.cli.framework.control import moments
from svc.cli.framework.options import option
from svc.cli.framework.session import Session
from svc.errors import KeyStoreError, UsageError
from svc.listen.log import checks
from svc.listen.log.address import LogAddress
from svc.listen.log.connection import LogConnection
from svc.listen.log.credentials import Credentials, from_environment
from svc.listen.log.streams import stream_info
from svc.listen.log.troubles import check_installed

ToLog = Annotated[str, option("LOG", "The log, nats+tls://HOST/NAME.", "--to")]
# Where a first run begins, in seconds back; None for all that there is.
STARTS: Final[Mapping[str, float | None]] = {"now": 0.0, "all": None}
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")


@dataclass(frozen=True, slots=True)
class LogOptions:
    """How a listener reads a log; `start` is in seconds back, 0 for now, None for all.

    `group` names a queue that is shared; without one the listener reads at its own pace, as
    `name`, by default that of its user.
    """

    address: LogAddress
    group: str | None
    start: float | None
    name: str | None
    signs_anew: bool = True


def read_log(
    session: Session, address: str, group: str | None, start: str, name: str | None
) -> LogOptions:
    """Reads the options of --from.

    Raises:
        UsageError: a value is wrong.
    """
    for typed, given in (("--group", group), ("--name", name)):
        if given is not None and not _NAME.fullmatch(given):
            raise UsageError(
                f"{typed} {given!r}: letters, digits, - and _, at most 32.", param=typed
            )
    back = STARTS[start] if start in STARTS else _ago(session, start)
    parsed = LogAddress.parse(address, "--from")
    return LogOptions(parsed, group, back, name)


def _ago(session: Session, text: str) -> float:
    """How long ago a moment was, in seconds; one that lies ahead is now."""
    moment = moments(session, local=True).read(text, "--from-start")
    return max(session.clock.now() - moment.begin.timestamp(), 0.0)


@contextmanager
def about_a_log() -> Iterator[None]:
    """Names, where there is no keyring, the variable that stands for it with a log."""
    try:
        yield
    except KeyStoreError as error:
        error.hint = f"Without a keyring, set {LOG_VARIABLE} for the commands of a log"
        raise


def open_log(session: Session, address: LogAddress) -> LogConnection:
    """Gives a connection to be entered.

    Raises:
        ConfigError: the extra is not installed.
        UsageError: SVC_LOG_CREDENTIALS holds no credentials.
    """
    check_installed()
    return LogConnection(address, _credentials(session, address), _context(session, address))


def own_name(log: LogOptions, connection: LogConnection) -> str:
    """What this machine is called at the log."""
    if log.name is not None:
        return log.name
    if connection.credentials is not None:
        return connection.credentials.label
    host = "".join(one if one.isalnum() or one in "-_" else "-" for one in socket.gethostname())
    return host[:32] or "laptop"


def examine(
    session: Session, connection: LogConnection, *, writes: str | None, max_body: int = 0
) -> None:
    """Refuses a log that would lose or mix up events, and warns of what is doubtful.

    `writes` is the origin of the events that a receiver is going to put in, None for a reader;
    `max_body` the largest of them, in bytes.

    Raises:
        ConfigError, UsageError: the log must not be used.
    """
    info = connection.run(stream_info(connection, session.settings.mode))
    checks.belongs(info, writes, session.settings.mode)
    option = "--to" if writes else "--from"
    checks.refuse(checks.version(connection), option)
    if writes:
        checks.refuse(checks.payload(connection, max_body), "--max-body")
        tell(session, checks.replicas(info))
        tell(session, checks.limits(info))
    tell(session, checks.clock(info, session.clock.now()))


def tell(session: Session, remark: checks.Remark) -> None:
    """Warns of what is not as it should be."""
    if remark.verdict != "ok":
        session.out.warn(f"The log: {remark.detail}. {remark.fix or ''}".rstrip())


def _credentials(session: Session, address: LogAddress) -> Credentials | None:
    given = from_environment(session.env)
    if given is not None:
        return given
    try:
        with about_a_log():
            stored = session.key_store().get(place_of(session).user_of_log(address.name))
    except KeyStoreError:
        if address.tls:
            raise
        return None  # a log of this machine may need none
    return Credentials.parse(stored.secret, "The keyring") if stored is not None else None


def _context(session: Session, address: LogAddress) -> ssl.SSLContext | None:
    if not address.tls:
        return None
    from svc.client.wire.tls import context

    return context(session.settings.ca_bundle)
