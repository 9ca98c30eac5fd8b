"""`svc state`: shows what takes the space of the state database; `compact` frees it.

The database is one SQLite file with the journal of POSTs, the inbox of events and the facts of
keys.
"""

from contextlib import closing

import typer

from svc.cli.framework.app import Noun, make_app, verb
from svc.cli.framework.session import Session
from svc.state import Database
from svc.state.files import set_aside_of
from svc.state.room import can_return_pages, kinds_of, rebuild, return_pages, room_of

# Given to the app: Typer takes no docstring of a callback whose app has no help.
app = make_app(
    """Show what takes the room of this machine's state database.

    free_bytes is the room that forgotten records have left: new records use it, and
    svc state compact gives it back to the disk.

    $ svc state -o json --query free_bytes
    $ svc state compact
    """
)


@app.callback(cls=Noun, invoke_without_command=True)
def state(ctx: typer.Context) -> None:
    """Shows what takes the room, unless a verb was named."""
    if ctx.invoked_subcommand is not None:
        return
    session: Session = ctx.obj
    database, path = session.state(), session.paths.state_file
    room = room_of(database, path)
    session.out.value(
        {
            "object": "state",
            "file": str(path),
            "bytes": room.size,
            "free_bytes": room.free,
            "log_bytes": room.log,
            "kinds": kinds_of(database),
            "set_aside": [
                {"file": str(one), "bytes": one.stat().st_size} for one in set_aside_of(path)
            ],
        }
    )
    if room.is_worth_compacting:
        session.out.hint("Give the free room back to the disk: svc state compact")


@verb(app)
def compact(session: Session) -> None:
    """Forget what is due, and give free room back to the disk.

    Due is what would be forgotten by itself in time: forwarded events after {forwarded_days} days,
    settled requests after {request_days}. It goes in pieces, so that a listener and other commands
    go on beside it. What is unresolved or still to be forwarded stays.

    $ svc state compact
    """
    path = session.paths.state_file
    with _open(session) as database:
        before = room_of(database, path)
        events, requests = _forget_due(session, database)
        in_pieces = can_return_pages(database)
        if in_pieces:
            return_pages(database, session.clock)
    if not in_pieces:
        rebuild(path)
    with _open(session) as database:
        after = room_of(database, path)
    session.out.value(
        {
            "object": "state_compaction",
            "file": str(path),
            "events_forgotten": events,
            "requests_forgotten": requests,
            "bytes_before": before.size + before.log,
            "bytes": after.size + after.log,
        }
    )


def _open(session: Session) -> Database:
    """A connection of its own, since none may be open where the file is written anew."""
    return Database.open(session.paths.state_file, clock=session.clock)


def _forget_due(session: Session, database: Database) -> tuple[int, int]:
    """Forgets events and requests that are due; gives how many of each."""
    from svc.cli.framework.delivering import limit_rules
    from svc.delivery.journal.batches import BatchTable
    from svc.delivery.journal.journal import Journal
    from svc.delivery.journal.sender_locks import SenderLocks
    from svc.listen.inbox.forgetting import forget_all_forwarded

    requests, now, clock = 0, session.clock.now(), session.clock
    events = forget_all_forwarded(database, clock)
    with closing(SenderLocks(session.paths.state_dir / "senders")) as sender_locks:
        journal = Journal(lambda: database, sender_locks, clock, rules=limit_rules(session))
        while some := journal.forget_old(now):
            requests += some
        batches = BatchTable(database, sender_locks, clock)
        while batches.compact_expired_batch():
            pass
    return events, requests
