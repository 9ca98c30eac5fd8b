"""`svc events log failed`: lists, shows, retries or drops events that a group's jobs put aside.

A job of a consumer group puts an event of the team's log aside that its target did not take.
`svc.listen.log.failed` reads and changes the list at the log's servers.
"""

from typing import Final

from svc.cli.events.team import READ_LOG, open_log
from svc.cli.framework.app import make_noun, verb
from svc.cli.framework.options import argument, option
from svc.cli.framework.session import Session
from svc.listen.log import failed
from svc.listen.log.address import LogAddress
from svc.listen.log.credentials import keys_of
from svc.listen.log.messages import Trust
from svc.listen.log.streams import key_fingerprint, stream_info

app = make_noun("See what groups have put aside, and give it to them again.")

WHICH: Final = argument("EVENT", "The event's id, or its number in the list.")


@verb(app, "list")
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


@verb(app)
def show(session: Session, event: str = WHICH, log: str = READ_LOG) -> None:
    """Show an entry of the list, with the event as it was received.

    $ svc events log failed show evt_3kPq0aVb7cXd9eYf1gZh2iWj --from nats+tls://log.example.com/shop
    """
    mode = session.settings.mode
    with open_log(session, LogAddress.parse(log, "--from")) as connection:
        one = connection.run(failed.find_failed(connection, mode, event))
        message = connection.run(failed.message_of(connection, mode, one))
    session.out.value({**one.as_data(), "payload": message.body.decode("utf-8", "replace")})


@verb(app)
def retry(session: Session, event: str = WHICH, log: str = READ_LOG) -> None:
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


@verb(app)
def drop(session: Session, event: str = WHICH, log: str = READ_LOG) -> None:
    """Take an event off the list, with an admin's credentials; it stays in the log.

    $ svc events log failed drop evt_3kPq0aVb7cXd9eYf1gZh2iWj --from nats+tls://log.example.com/shop
    """
    with open_log(session, LogAddress.parse(log, "--from")) as connection:
        one = connection.run(failed.find_failed(connection, session.settings.mode, event))
        connection.run(failed.drop(connection, session.settings.mode, one))
    session.out.value({**one.as_data(), "dropped": True})
