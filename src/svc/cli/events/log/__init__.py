"""`svc events log`: shows a team's log, stores its credentials, and refills it after a loss.

A log is a team's shared stream of verified deliveries on NATS servers; `svc.listen.log` works with
it. The verbs login, status, refill and forget are here, and those of failed: they list, show,
retry or drop the events that jobs of a consumer group put aside. `create` and `users` set a
log up.
"""

from typing import Final

from svc.cli.events.log import create, users
from svc.cli.events.secrets import place_of
from svc.cli.events.team import READ_LOG, TO_LOG, about_a_log, examine, open_log
from svc.cli.framework.app import make_noun, verb
from svc.cli.framework.control import moments
from svc.cli.framework.options import argument, option
from svc.cli.framework.prompts import read_secret
from svc.cli.framework.session import Session
from svc.errors import CheckFailed
from svc.listen.inbox.history import copies
from svc.listen.inbox.interfaces import Position
from svc.listen.inbox.listeners import forget, list_listeners
from svc.listen.log import failed, inboxes
from svc.listen.log.address import LogAddress
from svc.listen.log.credentials import Credentials, keys_of
from svc.listen.log.errors import NO_MAJORITY, LogDown, no_majority
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
app.add_typer(create.app)
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
