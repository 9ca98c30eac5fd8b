"""`svc events log`: sets a team's log up, shows how it is, and refills it after a loss.

A log is a team's shared stream of verified deliveries, which lies on three NATS servers, or one,
that the team runs itself; `svc.listen.log` works with it. The verbs login, status, refill and
forget are here, and those of failed: they list, show, retry or drop the events that jobs of a
consumer group put aside. `users` has those of user.

The verb template prints the text of a file for one of the servers; create makes what is missing:
streams, groups, key. Of a stream that exists it changes only its size, if that was asked for, and
with `--new-key` the fingerprint of the key. If the stream of the events had to be made, streams of
failed events and readers that are left of an older log are emptied. The configurations of the
streams are in `svc.listen.log.streams`; the log's key goes into the keyring.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from svc.cli.events.log import users
from svc.cli.events.secrets import place_of
from svc.cli.events.team import (
    EVENT_RATE,
    READ_LOG,
    TO_LOG,
    about_a_log,
    check_name,
    delivery_policy,
    examine,
    load_credentials,
    open_log,
    size_of,
    starts_at,
)
from svc.cli.framework.app import make_noun, verb
from svc.cli.framework.control import moments
from svc.cli.framework.options import REQUIRED, OptionSet, argument, flag, option
from svc.cli.framework.prompts import read_secret
from svc.cli.framework.session import Session
from svc.errors import CheckFailed, ConfigError, KeyStoreError, NotFound, UsageError
from svc.listen.inbox.interfaces import Position
from svc.listen.inbox.listeners import forget, list_listeners
from svc.listen.inbox.received import copies
from svc.listen.log import failed, inboxes, proof, streams, template
from svc.listen.log.address import LogAddress
from svc.listen.log.connection import LogConnection
from svc.listen.log.credentials import Credentials, from_environment, keys_of
from svc.listen.log.errors import NO_MAJORITY, LogDown, LogRefusal, no_majority
from svc.listen.log.messages import Trust
from svc.listen.log.status import read_status
from svc.listen.log.streams import key_fingerprint, stream_info
from svc.listen.names import LogUse, log_of

failed_app = make_noun("See what groups have put aside, and give it to them again.")

_WHICH: Final = argument("EVENT", "The event's id, or its number in the list.")


@verb(failed_app, "list")
def list_(
    session: Session,
    log: str = READ_LOG,
    group: str | None = option("NAME", "Those of one group."),
) -> None:
    """List what was put aside, with the reason, the oldest first.

    $ svc events log failed list --from nats+tls://log.example.com/shop
    """
    with open_log(session, LogAddress.parse(log, "--from")) as connection:
        found = connection.run(failed.list_failed(connection, session.settings.mode, group))
    session.out.value([one.as_data() for one in found], kind="failed_event")


@verb(failed_app)
def show(session: Session, event: str = _WHICH, log: str = READ_LOG) -> None:
    """Show an entry of the list, with the event as it was received.

    $ svc events log failed show evt_3kPq0aVb7cXd9eYf1gZh2iWj --from nats+tls://log.example.com/shop
    """
    mode = session.settings.mode
    with open_log(session, LogAddress.parse(log, "--from")) as connection:
        one = connection.run(failed.find_failed(connection, mode, event))
        message = connection.run(failed.message_of(connection, mode, one))
    session.out.value({**one.as_data(), "payload": message.body.decode("utf-8", "replace")})


@verb(failed_app)
def retry(session: Session, event: str = _WHICH, log: str = READ_LOG) -> None:
    """Give an event to its group again, with an admin's credentials, and take it off the list.

    $ svc events log failed retry evt_3kPq0aVb7cXd9eYf1gZh2iWj --from nats+tls://log.example.com/shop
    """
    mode = session.settings.mode
    with open_log(session, LogAddress.parse(log, "--from")) as connection:
        info = connection.run(stream_info(connection, mode))
        stream = connection.address.stream(mode)
        keys = keys_of(connection.credentials, stream, key_fingerprint(info["config"]))
        one = connection.run(failed.find_failed(connection, mode, event))
        connection.run(failed.retry(connection, mode, Trust(stream, keys), one))
    session.out.value({**one.as_data(), "retried": True})


@verb(failed_app)
def drop(session: Session, event: str = _WHICH, log: str = READ_LOG) -> None:
    """Take an event off the list, with an admin's credentials; it stays in the log.

    $ svc events log failed drop evt_3kPq0aVb7cXd9eYf1gZh2iWj --from nats+tls://log.example.com/shop
    """
    with open_log(session, LogAddress.parse(log, "--from")) as connection:
        one = connection.run(failed.find_failed(connection, session.settings.mode, event))
        connection.run(failed.drop(connection, session.settings.mode, one))
    session.out.value({**one.as_data(), "dropped": True})


app = make_noun("Set up a team's log and see how it is.")

app.add_typer(users.app, name="user")
app.add_typer(failed_app, name="failed")

_DAYS: Final = "7d"  # for so long the log keeps what a laptop may not have read yet


@verb(app)
def login(
    session: Session,
    log: str = argument("LOG", "The log, nats+tls://HOST/NAME, with all its servers."),
) -> None:
    """Store credentials of a log in the OS keyring, for the servers of this address alone.

    USER:PASSWORD, or a NATS credentials file, and below it the log's key. They come on standard
    input, or are asked for and not shown. In CI: SVC_LOG_CREDENTIALS.

    $ svc events log login nats+tls://log.example.com/shop < anna.creds
    """
    address, place = LogAddress.parse(log, "LOG"), place_of(session)
    with about_a_log():
        store = session.key_store()
        store.get(place.user_of_log(address.places[0]))  # a missing keyring is told before typing
    command = f"svc events log login {log}"
    text = read_secret(session, "Credentials: ", stdin=True, command=command)
    given = Credentials.parse(text, "Standard input")
    for name in address.places:
        backend = store.put(place.user_of_log(name), given.text)
    session.out.value(
        {
            "object": "log_login",
            "address": str(address),
            "user": given.user,
            "has_key": bool(given.keys),
            "keyring": backend,
        }
    )


@verb(app)
def status(session: Session, log: str = READ_LOG) -> None:
    """Show how a log is: what it holds, its copies, groups and laptops, and what was put aside.

    $ svc events log status --from nats+tls://log.example.com/shop
    $ svc events log status --from nats+tls://log.example.com/shop --query behind --raw
    """
    address = LogAddress.parse(log, "--from")
    position = position_here(session, address)
    with open_log(session, address) as connection:
        found = read_status(connection, session.settings.mode, position, session.clock.now())
        try:
            shown = connection.run(found)
        except LogDown as error:
            if error.code == NO_MAJORITY:
                raise CheckFailed(error.message, code=NO_MAJORITY, hint=error.hint) from None
            raise
    session.out.value(shown)
    if shown["replicas_current"] <= shown["replicas"] // 2:
        missing = no_majority(address)
        raise CheckFailed(missing.message, code=NO_MAJORITY, hint=missing.hint)


@verb(app)
def refill(
    session: Session,
    to: str = TO_LOG,
    since: str = option("TIME", "Copies since: 2h, 7d, yesterday or 2026-11-21.", default=_DAYS),
) -> None:
    """Put the copies that receivers of this machine have kept into a log that has lost events.

    Events that the log still has are recognised by their ids. The others are put in behind them,
    marked as events that may have been read before.

    $ svc events log refill --to nats+tls://log.example.com/shop --since 7d
    """
    address, mode = LogAddress.parse(to, "--to"), session.settings.mode
    begin = moments(session, local=True).read(since, "--since").begin.timestamp()
    found = copies(session.state(), *place_of(session)[:3], begin)
    with open_log(session, address) as connection:
        keys = examine(session, connection, writes=session.base_url.origin)
        trust = Trust(address.stream(mode), keys)
        # The log has an event a little later than the receiver, or much later after a refill.
        held = connection.run(inboxes.ids_since(connection, mode, begin, trust))
        done = inboxes.backfill(found, held, inboxes.LogInbox(connection, mode, keys[0]))
    session.out.value({"object": "refill", **done})


@verb(app, "forget")
def forget_(session: Session, log: str = READ_LOG) -> None:
    """Stop svc doctor from checking a log that is not used any more; what was read stays known.

    $ svc events log forget --from nats+tls://log.example.com/shop
    """
    address, place = LogAddress.parse(log, "--from"), place_of(session)
    read = LogUse(address.stream(place.mode), fills=False)
    uses = (LogUse(str(address), fills=True), read)
    known = list_listeners(session.state(), *place[:3])
    ours = [scope for scope, one in known.items() if one.in_use and log_of(scope) in uses]
    forget(session.state(), ours)
    session.out.value({"object": "log_forgotten", "address": str(address), "listeners": len(ours)})


def position_here(session: Session, address: LogAddress) -> Position | None:
    """Returns the furthest position to which a listener of this machine has read a log, or None.

    `svc doctor` compares it with the end of the log.
    """
    if not session.paths.has_state:
        return None
    place = place_of(session)
    known = list_listeners(session.state(), *place[:3])
    ours = LogUse(address.stream(place.mode), fills=False)
    read = (one.position for scope, one in known.items() if one.position and log_of(scope) == ours)
    return max(read, key=lambda place: place.seq, default=None)


@verb(app, "template")
def template_(
    session: Session,
    name: str = option("NAME", "The log's name.", default=REQUIRED),
    node: int = option(
        "N", "Which of the three servers it is for.", min=1, max=template.NODES, default=1
    ),
    host: list[str] | None = option(
        "HOST", "The name of a server, for each of the three in order."
    ),
    events_per_minute: int | None = EVENT_RATE,
    max_file_store: str | None = option("SIZE", "How much each server may store, such as 20GiB."),
    environment: bool = flag(
        "--environment", "Print the variables that servers read, with new secrets."
    ),
    systemd: bool = flag("--systemd", "Print a unit of systemd that runs one."),
    trial: bool = flag("--trial", "All servers on this machine, without certificates."),
    single: bool = flag(
        "--single", "One server in place of three, for a team that can wait for it."
    ),
) -> None:
    """Print the configuration of one of the three servers of a log, or of one alone.

    svc writes it and runs no server. Beside it lie the users' file, which svc events log user
    writes, and the variables of --environment, the same on all servers.

    $ svc events log template --name shop --node 1 > nats.conf
    $ svc events log template --name shop --environment > log.env
    $ svc events log template --name shop --systemd > svc-log.service
    """
    LogAddress.parse(f"nats://127.0.0.1/{name}", "--name")
    if single and node != 1:
        raise UsageError("--single has one server.", param="--node")
    _check_hosts(name, host or (), may_be_given=not (trial or single))
    stored = template.file_bytes_for(events_per_minute)
    if max_file_store is not None:
        stored = size_of(max_file_store, "--max-file-store")
    mode, hosts = session.settings.mode, tuple(host or template.EXAMPLE_HOSTS)
    cluster = template.Cluster(name, mode, hosts, stored, trial, single)
    text = template.configuration(cluster, node)
    if environment:
        text = template.environment(cluster)
    elif systemd:
        text = template.unit(cluster)
    session.stdout.write(text)


def _check_hosts(name: str, hosts: Sequence[str], *, may_be_given: bool) -> None:
    if hosts and (len(set(hosts)) != template.NODES or not may_be_given):
        raise UsageError("--host is given three times, once for each server.", param="--host")
    for one in hosts:
        LogAddress.parse(f"nats+tls://{one}/{name}", "--host")


class CreateArguments(OptionSet):
    """What may be typed behind `svc events log create`."""

    to: str = TO_LOG
    group: list[str] | None = option("NAME", "A queue that jobs share; repeatable.")
    from_: str = option(
        "TIME", "Where groups that are made begin: all, now, or 2h (ago).", "--from", default="all"
    )
    replicas: int = option(
        "N", "How many copies there are; 1 only for trying out.", min=1, max=5, default=3
    )
    max_bytes: str | None = option(
        "SIZE", "How much it holds, such as 512MiB.", show_default="10GiB"
    )
    events_per_minute: int | None = EVENT_RATE
    print_key: bool = flag(
        "--print-key", "Print the log's key, for the credentials of its members."
    )
    new_key: bool = flag("--new-key", "Replace the log's key; members need the new one.")


@verb(app, options=CreateArguments)
def create(session: Session, arguments: CreateArguments) -> None:
    """Make the streams of a log, with an admin's credentials; what is there is left as it is.

    svc says how an existing stream differs from what it would make, and changes its size alone, if
    that was asked for. The log's key, with which receivers prove what they have verified,
    is made the first time and kept in the keyring beside the credentials; where the credentials do
    not come from the keyring, --print-key is needed.

    $ svc events log create --to nats+tls://log.example.com/shop --group ci
    $ svc events log create --to nats+tls://log.example.com/shop --max-bytes 160GiB
    $ svc events log create --to nats+tls://log.example.com/shop --group e2e --from now
    """
    address, mode = LogAddress.parse(arguments.to, "--to"), session.settings.mode
    for group in arguments.group or ():
        check_name(group, "--group")
    start = delivery_policy(session, starts_at(session, arguments.from_, "--from"))
    held = template.bytes_for(arguments.events_per_minute)
    if arguments.max_bytes is not None:
        held = size_of(arguments.max_bytes, "--max-bytes")
    with open_log(session, address) as connection:
        key = _key(session, connection, new=arguments.new_key, printed=arguments.print_key)
        made = list(_streams(session, connection, arguments, held, key))
        groups = [
            {"name": one, "made": connection.run(streams.make_group(connection, mode, one, start))}
            for one in arguments.group or ()
        ]
    if arguments.print_key:
        session.stdout.write(key + "\n")
        return
    session.out.value({"object": "log", "address": str(address), "streams": made, "groups": groups})


def _streams(
    session: Session, connection: LogConnection, arguments: CreateArguments, held: int, key: str
) -> Iterator[dict[str, Any]]:
    address, mode, copies = connection.address, session.settings.mode, arguments.replicas
    change = {"max_bytes"} if arguments.max_bytes or arguments.events_per_minute else set()
    change |= {"metadata"} if arguments.new_key else set()
    origin = session.base_url.origin
    wanted = streams.events_stream(address, mode, origin, copies, held, key)
    events = _make(connection, wanted, change)
    yield events
    for make in (streams.describe_failed_stream, streams.readers_stream):
        made = _make(connection, make(address, mode, copies), set())
        if events["made"] and not made["made"]:  # what it holds is of a log that is gone
            connection.run(connection.api(f"STREAM.PURGE.{made['name']}"))
        yield made


def _key(session: Session, connection: LogConnection, *, new: bool, printed: bool) -> str:
    """Returns the log's key; makes one where the log has none, and sees that it is kept."""
    mode = session.settings.mode
    stream = connection.address.stream(mode)
    credentials = connection.credentials
    try:
        info = connection.run(streams.stream_info(connection, mode))
    except NotFound:
        known = None
    else:
        known = streams.key_fingerprint(info["config"])
    if not new and (known is not None or (credentials is not None and credentials.keys)):
        return keys_of(credentials, stream, known)[0]
    key = proof.make_key()
    try:
        _keep_key(session, connection, key)
    except ConfigError:
        if not printed:
            raise
    return key


def _keep_key(session: Session, connection: LogConnection, key: str) -> None:
    place, address = place_of(session), connection.address
    if from_environment(session.env) is not None:
        raise _build_unkept("The credentials come from the environment.")
    try:
        stored = load_credentials(session, address) or Credentials(None, "")
        store = session.key_store()
        for name in address.places:
            store.put(place.user_of_log(name), stored.with_key(key).text)
    except KeyStoreError as error:
        raise _build_unkept(error.message) from None


def _build_unkept(why: str) -> ConfigError:
    return ConfigError(
        f"{why} The log's new key could not be stored, so nothing was created.",
        code="log_key_unkept",
        param="--print-key",
        hint="Have it printed, and put it below USER:PASSWORD in the credentials: --print-key",
    )


def _make(connection: LogConnection, wanted: dict[str, Any], change: set[str]) -> dict[str, Any]:
    try:
        return connection.run(streams.make(connection, wanted, change))
    except LogRefusal as error:
        if "replicas" in error.message:
            error.hint = "One server alone keeps one copy, for trying out: --replicas 1"
        if error.number in streams.NO_ROOM:
            raise ConfigError(
                f"The servers may not store {wanted['max_bytes'] / 2**30:,.1f} GiB: "
                f"{error.message}.",
                code="log_no_room",
                param="--max-bytes",
                hint="Raise max_file_store in their configuration, as svc events log template "
                "--max-file-store writes it, or give a smaller --max-bytes",
            ) from None
        raise
