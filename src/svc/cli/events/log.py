"""`svc events log`: a team's log set up once, looked at, and filled again after a loss."""

from typing import Annotated, Any, Final

import typer

from svc.cli.events.secrets import place_of
from svc.cli.events.team import ToLog, about_a_log, open_log
from svc.cli.framework.app import new_noun, verb
from svc.cli.framework.control import moments
from svc.cli.framework.options import argument, flag, option
from svc.cli.framework.prompts import read_secret
from svc.cli.framework.session import Session
from svc.errors import UsageError
from svc.listen.inbox.history import copies
from svc.listen.inbox.inbox import Position
from svc.listen.inbox.listeners import positions
from svc.listen.log import inboxes, streams, template
from svc.listen.log.address import LogAddress
from svc.listen.log.connection import LogConnection
from svc.listen.log.credentials import Credentials
from svc.listen.log.status import look
from svc.listen.log.troubles import LogRefusal
from svc.listen.names import LogUse, log_of

app = new_noun("Set up a team's log and see how it is.")

From = Annotated[str, option("LOG", "The log, nats+tls://HOST/NAME.", "--from")]

_DAYS: Final = "3d"  # for so long the log itself knows what it has
_UNITS: Final = {"MiB": 1 << 20, "GiB": 1 << 30}


@verb(app, "template")
def template_(
    ctx: typer.Context,
    name: Annotated[str, option("NAME", "The log's name.")],
    node: Annotated[
        int, option("N", "Which of the three servers it is for.", min=1, max=template.NODES)
    ] = 1,
    laptop: Annotated[list[str] | None, option("NAME", "A laptop that reads; repeatable.")] = None,
    group: Annotated[
        list[str] | None, option("NAME", "A group that shares a queue; repeatable.")
    ] = None,
    trial: Annotated[
        bool, flag("--trial", "All servers on this machine, without certificates.")
    ] = False,
) -> None:
    """Print the configuration of one of the three servers of a log.

    svc writes it and runs no server. Its users may do what they need and nothing else; their
    passwords come from the server's environment.

    $ svc events log template --name shop --laptop anna --laptop ben > nats.conf
    $ svc events log template --name shop --trial --node 2 > nats-2.conf
    """
    session = Session.of(ctx)
    for param, given in (("--name", [name]), ("--laptop", laptop), ("--group", group)):
        for one in given or ():
            LogAddress.parse(f"nats://127.0.0.1/{one}", param)
    team = template.Team(
        name,
        session.settings.mode,
        tuple(laptop or ("laptop",)),
        tuple(group or ("ci",)),
    )
    template.refuse_clashes(team)
    text = template.configuration(team, template.Node(node, trial))
    session.stdout.write(text)


@verb(app)
def create(
    ctx: typer.Context,
    to: ToLog,
    group: Annotated[
        list[str] | None, option("NAME", "A queue that jobs share; repeatable.")
    ] = None,
    replicas: Annotated[
        int, option("N", "How many copies there are; 1 only for trying out.", min=1, max=5)
    ] = 3,
    max_bytes: Annotated[str, option("SIZE", "How much it holds, such as 512MiB.")] = "10GiB",
) -> None:
    """Make the streams of a log, with an admin's credentials; what is there is left as it is.

    Says how a stream that is there differs from what svc would make.

    $ svc events log create --to nats+tls://log.example.com/shop --group ci
    """
    session = Session.of(ctx)
    address, mode = LogAddress.parse(to, "--to"), session.settings.mode
    wanted = [
        streams.events_stream(address, mode, session.base_url.origin, replicas, _size(max_bytes)),
        streams.failed_stream(address, mode, replicas),
    ]
    with open_log(session, address) as connection:
        made = [_made(connection, one) for one in wanted]
        groups = [
            _group_made(connection, session, streams.group_consumer(one, replicas, start=_ALL))
            for one in group or ()
        ]
    session.out.value({"object": "log", "address": str(address), "streams": made, "groups": groups})


@verb(app)
def login(
    ctx: typer.Context,
    name: Annotated[str, argument("NAME", "The log's name.", show_default=True)],
) -> None:
    """Store credentials of a log in the OS keyring: USER:PASSWORD, or a NATS credentials file.

    They come on standard input, or are asked for and not shown. In CI: SVC_LOG_CREDENTIALS.

    $ svc events log login shop < anna.creds
    """
    session = Session.of(ctx)
    LogAddress.parse(f"nats://127.0.0.1/{name}", "NAME")
    user = place_of(session).user_of_log(name)
    with about_a_log():
        store = session.key_store()
        store.get(user)  # a keyring that is not there is told before anybody types
    command = f"svc events log login {name}"
    text = read_secret(session, "Credentials: ", stdin=True, command=command)
    given = Credentials.parse(text, "Standard input")
    backend = store.put(user, given.text)
    session.out.value({"object": "log_login", "name": name, "user": given.user, "keyring": backend})


@verb(app)
def status(ctx: typer.Context, log: From) -> None:
    """Show how a log is: what it holds, its copies, its groups, how far this machine has read.

    $ svc events log status --from nats+tls://log.example.com/shop
    $ svc events log status --from nats+tls://log.example.com/shop --query behind --raw
    """
    session = Session.of(ctx)
    address = LogAddress.parse(log, "--from")
    position = position_here(session, address)
    with open_log(session, address) as connection:
        found = look(connection, session.settings.mode, position, session.clock.now())
        session.out.value(connection.run(found).as_data())


@verb(app)
def refill(
    ctx: typer.Context,
    to: ToLog,
    since: Annotated[str, option("TIME", "Copies since: 2h, 3d, yesterday or 2026-11-21.")] = _DAYS,
) -> None:
    """Put the copies that receivers of this machine have kept into a log that has lost events.

    What the log still has is recognised by its id, for three days; what is put in comes behind it.

    $ svc events log refill --to nats+tls://log.example.com/shop --since 3d
    """
    session = Session.of(ctx)
    address, settings = LogAddress.parse(to, "--to"), session.settings
    begin = moments(session, local=True).read(since, "--since").begin.timestamp()
    found = copies(session.state(), session.base_url.origin, settings.profile, settings.mode, begin)
    with open_log(session, address) as connection:
        done = inboxes.refill(found, inboxes.LogInbox(connection, settings.mode))
    session.out.value({"object": "refill", "copies": done.copies, "added": done.added})


def position_here(session: Session, address: LogAddress) -> Position | None:
    """Gives how far a listener of this machine has read a log, the furthest of several."""
    if not session.paths.has_state:
        return None
    settings = session.settings
    known = positions(session.state(), session.base_url.origin, settings.profile, settings.mode)
    ours = LogUse(str(address), fills=False)
    read = (place for scope, place in known.items() if place and log_of(scope) == ours)
    return max(read, key=lambda place: place.seq, default=None)


_ALL: Final[dict[str, Any]] = {"deliver_policy": "all"}


def _made(connection: LogConnection, wanted: dict[str, Any]) -> dict[str, Any]:
    try:
        differs = connection.run(streams.make(connection, wanted))
    except LogRefusal as error:
        if "replicas" in error.message:
            error.hint = "One server alone keeps one copy, for trying out: --replicas 1"
        raise
    return {
        "name": wanted["name"],
        "made": differs is None,
        "differs": [
            {"field": one.field, "wanted": one.wanted, "found": one.found} for one in differs or ()
        ],
    }


def _group_made(
    connection: LogConnection, session: Session, wanted: dict[str, Any]
) -> dict[str, Any]:
    made = connection.run(streams.make_group(connection, session.settings.mode, wanted))
    return {"name": wanted["name"].removeprefix("g_"), "made": made}


def _size(text: str) -> int:
    number, unit = text[:-3], text[-3:]
    if unit not in _UNITS or not number.isascii() or not number.isdigit() or not int(number):
        raise UsageError(
            f"--max-bytes {text!r} is no size.", param="--max-bytes", hint="Write 512MiB or 10GiB"
        )
    return int(number) * _UNITS[unit]
