"""Reads the events of a team's shared log for `svc events audit --from LOG`.

The command calls `add_log`, which adds each event's type and object to the `ReceivedEvents` that it
compares with; without `--from` the events of this machine's inbox take their place.
"""

from svc.cli.events.team import examine, open_log
from svc.cli.framework.session import Session
from svc.listen.inbox.received import ReceivedEvents
from svc.listen.log.address import LogAddress
from svc.listen.log.connection import LogConnection, read_stream
from svc.listen.log.messages import Trust, Unreadable, delivery_of


def add_log(session: Session, log: str, received: ReceivedEvents) -> None:
    """Adds the events that a log holds of the session's mode, and warns of foreign messages.

    A message that no receiver of the log put there is counted, not added.

    Raises:
        UsageError: `log` is not the address of a log.
        AuthError, LogDown: the log cannot be read.
    """
    address, mode = LogAddress.parse(log, "--from"), session.settings.mode
    with open_log(session, address) as connection:
        keys = examine(session, connection, writes=None)
        trust = Trust(address.stream(mode), keys)
        unread = connection.run(_read(session, connection, trust, received))
    if unread:
        were = "1 message of the log was" if unread == 1 else f"{unread:,} messages of the log were"
        session.out.warn(f"{were} put there by no receiver of it.")


async def _read(
    session: Session, connection: LogConnection, trust: Trust, received: ReceivedEvents
) -> int:
    unread = 0
    subjects = connection.address.subjects(session.settings.mode)
    async for one in read_stream(connection, trust.stream, {"seq": 1}, subjects):
        try:
            facts = delivery_of(one.message, session.clock.now(), trust).facts
        except Unreadable:
            unread += 1
        else:
            received.add([(facts.type, facts.object_id)])
    return unread
