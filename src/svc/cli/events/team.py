"""Opens and checks a team's log for the commands that use one: options, credentials, connection.

A log is a team's shared stream of verified deliveries on NATS servers, which `svc.listen.log` works
with. `receive`, `listen --from`, `audit`, `log` and `svc doctor` open a log by `open_log`;
`examine` refuses a log that could lose events.
"""

import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from svc.api_keys import LOG_VARIABLE
from svc.cli.events.secrets import place_of
from svc.cli.framework.control import moments
from svc.cli.framework.options import REQUIRED, option
from svc.cli.framework.session import Session
from svc.errors import AuthError, KeyStoreError, UsageError
from svc.listen.log import checks
from svc.listen.log.address import LogAddress
from svc.listen.log.connection import LogConnection
from svc.listen.log.credentials import Credentials, from_environment, keys_of
from svc.listen.log.errors import check_installed
from svc.listen.log.streams import key_fingerprint, stream_info, time_text

READ_LOG: Final = option("LOG", "The log, nats+tls://HOST/NAME.", "--from", default=REQUIRED)
TO_LOG: Final = option("LOG", "The log, nats+tls://HOST/NAME.", "--to", default=REQUIRED)
EVENT_RATE: Final[int | None] = option(
    "N", "Size it for so many events a minute, kept for seven days.", min=1, max=1_000_000
)
_SIZES: Final = {"MiB": 1 << 20, "GiB": 1 << 30}
# Where a first run begins, in seconds back; None for all that there is.
STARTS: Final[Mapping[str, float | None]] = {"now": 0.0, "all": None}
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")


@dataclass(frozen=True, slots=True)
class LogOptions:
    """How a listener reads a log; `start` is in seconds before now, 0 for now, None for all.

    `group` names a consumer group, whose members share the events; without a group the listener
    reads every event, under `name`, by default the name of the log's user.
    """

    address: LogAddress
    group: str | None
    start: float | None
    name: str | None
    signs_anew: bool = True


def read_log(
    session: Session, address: str, group: str | None, start: str, name: str | None
) -> LogOptions:
    """Parses --from and the options that go with it; raises UsageError."""
    for typed, given in (("--group", group), ("--name", name)):
        if given is not None:
            check_name(given, typed)
    back = starts_at(session, start, "--from-start")
    parsed = LogAddress.parse(address, "--from")
    return LogOptions(parsed, group, back, name)


def check_name(text: str, param: str) -> None:
    """Refuses a name of a reader or group that cannot be part of a subject; raises UsageError."""
    if not _NAME.fullmatch(text):
        raise UsageError(f"{param} {text!r}: letters, digits, - and _, at most 32.", param=param)


def starts_at(session: Session, text: str, param: str) -> float | None:
    """Returns from how many seconds ago to read: 0 for now, None for the whole log."""
    if text in STARTS:
        return STARTS[text]
    moment = moments(session, local=True).read(text, param)
    return max(session.clock.now() - moment.begin.timestamp(), 0.0)


def size_of(text: str, param: str) -> int:
    """Parses a size to bytes; `param` names the option in the error. Raises UsageError."""
    number, unit = text[:-3], text[-3:]
    if unit not in _SIZES or not number.isascii() or not number.isdigit() or not int(number):
        raise UsageError(f"{text!r} is not a size.", param=param, hint="Write 512MiB or 10GiB")
    return int(number) * _SIZES[unit]


def delivery_policy(session: Session, back: float | None) -> dict[str, str]:
    """Returns the NATS settings that say where a new group begins; `back` is from `starts_at`."""
    if back is None:
        return {"deliver_policy": "all"}
    if back == 0:
        return {"deliver_policy": "new"}
    since = time_text(session.clock.now() - back)
    return {"deliver_policy": "by_start_time", "opt_start_time": since}


@contextmanager
def about_a_log() -> Iterator[None]:
    """Adds to a KeyStoreError in the block the hint to set SVC_LOG_CREDENTIALS instead."""
    try:
        yield
    except KeyStoreError as error:
        error.hint = f"Without a keyring, set {LOG_VARIABLE} for the commands of a log"
        raise


def open_log(session: Session, address: LogAddress) -> LogConnection:
    """Returns a connection to a log, to be used in a `with` block.

    Raises:
        ConfigError: the optional library for logs is not installed.
        UsageError: SVC_LOG_CREDENTIALS holds no credentials.
    """
    check_installed()
    credentials, context = from_environment(session.env), None
    if credentials is None:
        # A log of this machine may need none.
        with suppress(*(() if address.tls else (KeyStoreError,))):
            credentials = load_credentials(session, address)
    if address.tls:
        from svc.client.wire import tls

        context = tls.context(session.settings.ca_bundle)
    return LogConnection(address, credentials, context)


def user_of(connection: LogConnection) -> str | None:
    """Returns the user's name, made fit for names at the log; None where the log has no users."""
    credentials = connection.credentials
    return None if credentials is None or credentials.user is None else credentials.label


def choose_name(log: LogOptions, connection: LogConnection) -> str:
    """Returns the name of this machine's reader: --name, else the user's, else the host's."""
    name = log.name or user_of(connection)
    if name is not None:
        return name
    host = "".join(one if one.isalnum() or one in "-_" else "-" for one in socket.gethostname())
    return host[:32] or "laptop"


def examine(
    session: Session, connection: LogConnection, *, writes: str | None, max_body: int = 0
) -> tuple[str, ...]:
    """Refuses a log that could lose or mix up events, and warns of doubtful settings.

    `writes` is the origin of the events that a receiver is going to put in, None for a reader;
    `max_body` is the largest of them, in bytes. Returns the log's keys, the newest first.

    Raises:
        AuthError: the credentials lack the log's key or hold another one.
        ConfigError, UsageError: the log must not be used.
    """
    mode = session.settings.mode
    info = connection.run(stream_info(connection, mode))
    checks.belongs(info, writes, mode)
    option = "--to" if writes else "--from"
    seen = [one for one, _ in connection.list_servers()] if writes else [connection.client.version]
    checks.refuse(checks.version(seen), option)
    if writes:
        checks.refuse(checks.payload(connection, max_body), "--max-body")
        print_remark(session, checks.replicas(info))
        print_remark(session, checks.limits(info))
    print_remark(session, checks.clock(info, session.clock.now()))
    stream = connection.address.stream(mode)
    return keys_of(connection.credentials, stream, key_fingerprint(info["config"]))


def print_remark(session: Session, remark: checks.Remark) -> None:
    """Prints a warning for a check of the log whose verdict is not ok."""
    if remark.verdict != "ok":
        session.out.warn(f"The log: {remark.detail}. {remark.fix or ''}".rstrip())


def load_credentials(session: Session, address: LogAddress) -> Credentials | None:
    """Returns the credentials stored for all servers of an address, and no others (R127).

    Raises:
        AuthError: credentials are stored for only some of the servers, or differ.
        KeyStoreError: there is no keyring.
    """
    place = place_of(session)
    with about_a_log():
        store = session.key_store()
        found = {name: store.get(place.user_of_log(name)) for name in address.places}
    texts = {one.secret for one in found.values() if one is not None}
    without = [name for name, one in found.items() if one is None]
    if texts and (without or len(texts) > 1):
        raise AuthError(
            f"Credentials are stored for other servers than {', '.join(without or found)}; they "
            "are sent to no server that they were not stored for.",
            code="log_credentials_elsewhere",
            hint=f"If that is the same log: svc events log login {address}",
        )
    return Credentials.parse(texts.pop(), "The keyring") if texts else None
