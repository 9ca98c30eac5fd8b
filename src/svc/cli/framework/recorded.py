"""How every POST is sent: recorded first, settled afterwards (promises R2, R10, R70)."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

from svc.cli.framework.session import Session
from svc.cli.framework.settling import Sent, as_known, keep
from svc.cli.framework.signals import Stopped
from svc.client.call import Call
from svc.client.client import Client
from svc.client.reply import Reply
from svc.delivery.journal.entry import (
    NOBODY_ELSE,
    Account,
    Intent,
    NewIntent,
    settled_by,
    settled_with,
)
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.leases import Leases
from svc.delivery.journal.stored import restored
from svc.errors import LocalError, SvcError

# What a process that was told to end still waits for a journal that another one holds.
_HURRY_SECONDS = 0.1


class BrokenOffError(Exception):
    """A bug of ours came between a request and its end; `__cause__` is the bug."""

    def __init__(self, intent: Intent) -> None:
        super().__init__(intent.id)
        self.sending = intent


@contextmanager
def journal_of(session: Session) -> Iterator[Journal]:
    """The requests of the state database; the database is opened when it is first needed."""
    with closing(Leases(session.paths.state_dir / "senders")) as leases:
        yield Journal(session.state, leases, session.clock, say=session.say)


def send_recorded(
    session: Session,
    client: Client,
    call: Call,
    *,
    idempotency_key: str | None = None,
    new_request: bool = False,
    meant_at: float | None = None,
) -> Sent:
    """Records a POST, sends it and keeps how it ended.

    `meant_at`, in Unix seconds, is when somebody decided on it: the command's beginning, unless a
    long one decides for itself.

    Raises:
        Conflict: the same request is unresolved, or the key was used for another one; not sent.
        LocalError: it could not be recorded; not sent (promise R2).
        SvcError: as `Client.deliver`, with the journal's id and the next command in it.
    """
    from svc.cli.framework.control import served_now

    prepared = client.prepare(call, idempotency_key=idempotency_key)
    with journal_of(session) as journal:
        asked = NewIntent(
            call,
            prepared,
            session.scope(session.key.fingerprint),
            key_given=idempotency_key is not None,
            served_at=served_now(session),
            meant_at=session.began_at if meant_at is None else meant_at,
        )

        def begin() -> Intent:
            known = asked._replace(account=_account(session, client, journal, asked))
            return _recorded(journal, known, new_request=new_request)

        return deliver(session, client, journal, begin)


def deliver(
    session: Session, client: Client, journal: Journal, begin: Callable[[], Intent]
) -> Sent:
    """Sends a request of which `begin` makes a record or takes the lease, and keeps how it ended.

    The bytes are those of the record, whatever was typed now (promise R1). It begins in here, so
    that no signal comes between that and what is to be said of it.
    """
    intent: Intent | None = None
    end: Reply | SvcError | None = None
    try:
        intent = _begun(begin)
        end = _sent(session, client, journal, intent)
        return keep(session, journal, intent, end)
    except Stopped as stopped:
        if intent is not None:
            _leave(journal, intent, end, stopped)
        raise
    except SvcError:
        raise
    except Exception as bug:
        if intent is None:
            raise
        raise BrokenOffError(intent) from bug


def _begun(begin: Callable[[], Intent]) -> Intent:
    try:
        return begin()
    except LocalError as error:
        raise not_sent(error) from error


def not_sent(error: LocalError) -> LocalError:
    """Says of an error of the journal that it came before anything was sent (promise R70)."""
    error.message = f"{error.message} Nothing was sent."
    error.outcome = "not_sent"
    return error


def _account(session: Session, client: Client, journal: Journal, asked: NewIntent) -> Account:
    """What is known of other keys under which the same was begun, or the user's key was used.

    Raises:
        OutcomeUnknown, Conflict: the user's key is too old to be sent again at all (promise R4).
    """
    strangers = journal.strangers(asked)
    key = asked.prepared.idempotency_key
    # A fresh key is in no row, so nobody need ask what became of it.
    known = journal.by_key(key, asked.scope) if asked.key_given and key else None
    if known is not None:
        from svc.cli.framework.control import refuse_expired_key

        refuse_expired_key(session, known, session.say)
        strangers |= {known.scope.key_hint}
    if strangers <= {asked.scope.key_hint}:
        return NOBODY_ELSE
    from svc.cli.framework.account import account_of

    return account_of(session, client, journal, strangers)


def _recorded(journal: Journal, asked: NewIntent, *, new_request: bool) -> Intent:
    try:
        return journal.record(asked, new_request=new_request)
    except Stopped as stopped:
        # It may be on disk by now; nothing of it has left.
        stopped.unsent = asked.call.path
        journal.hurry(_HURRY_SECONDS)
        with suppress(LocalError):
            journal.withdraw(str(asked.prepared.idempotency_key))
        raise


def _sent(session: Session, client: Client, journal: Journal, intent: Intent) -> Reply | SvcError:
    """Sends it; gives the answer, or the error that its end is."""

    def is_taken(made: str, world: str | None) -> bool:
        try:
            return journal.is_taken(intent, made, world)
        except LocalError:
            return False  # settling it finds the same trouble, and says so

    try:
        call, prepared = restored(intent.stored, session.base_url)
        reply = client.deliver(
            call,
            prepared,
            sent_before=intent.sent_before,
            first_sent_at=intent.first_sent_at,
            is_taken=is_taken,
        )
    except SvcError as error:
        return as_known(session, client, journal, intent, error)
    session.note_done(reply.data)
    return reply


def _leave(
    journal: Journal, intent: Intent, end: Reply | SvcError | None, stopped: Stopped
) -> None:
    """A signal came: what is known by now is kept, in a moment, and told."""
    if end is None:
        stopped.sending = intent
        return
    journal.hurry(_HURRY_SECONDS)
    settled = settled_by(end) if isinstance(end, Reply) else settled_with(end)
    with suppress(LocalError):
        journal.settle(intent, settled)
    if isinstance(end, SvcError):
        stopped.sending = intent if settled.outcome == "unknown" else None
        stopped.ended = end
