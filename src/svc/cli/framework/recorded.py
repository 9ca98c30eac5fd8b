"""How every POST is sent: recorded first, settled afterwards (promises R2, R10, R70)."""

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import NamedTuple

from svc.cli.framework.session import Session
from svc.cli.framework.signals import Stopped
from svc.client.call import Call
from svc.client.client import Client
from svc.client.contradiction import Contradiction
from svc.client.journal.commands import resume_command, where_to_look
from svc.client.journal.entry import (
    NOBODY_ELSE,
    Account,
    Asked,
    Intent,
    Settled,
    settled_by,
    settled_with,
)
from svc.client.journal.journal import Journal
from svc.client.journal.leases import Leases
from svc.client.journal.refusals import done_before, not_ours, refused_to_other_key
from svc.client.journal.stored import Scope, restored
from svc.client.reply import Reply
from svc.errors import LocalError, SvcError
from svc.state import LOST

# What a process that was told to end still waits for a journal that another one holds.
_HURRY_SECONDS = 0.1
_ASK = "; if the answer stays the same, ask the service, naming the request id"


class Sent(NamedTuple):
    """A request that was carried out.

    Attributes:
        unsaved: why the journal does not know it, or None; to be raised once the result is shown.
    """

    reply: Reply
    unsaved: LocalError | None


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


def scope_of(session: Session) -> Scope:
    """For whom and where this command sends."""
    settings = session.settings
    return Scope(settings.profile, settings.mode, str(settings.base_url), session.key.fingerprint)


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
        asked = Asked(
            call,
            prepared,
            scope_of(session),
            key_given=idempotency_key is not None,
            served_at=served_now(session),
            meant_at=session.began_at if meant_at is None else meant_at,
        )
        try:
            asked = asked._replace(account=_account(session, client, journal, asked))
            intent = _recorded(journal, asked, new_request=new_request)
        except LocalError as error:
            raise not_sent(error) from error
        return deliver(session, client, journal, intent)


def deliver(session: Session, client: Client, journal: Journal, intent: Intent) -> Sent:
    """Sends a recorded request whose lease is held, and keeps how it ended.

    The bytes are those of the record, whatever was typed now (promise R1).
    """
    end: Reply | SvcError | None = None
    try:
        end = _sent(session, client, journal, intent)
        return _kept(session, journal, intent, end)
    except Stopped as stopped:
        _leave(journal, intent, end, stopped)
        raise
    except SvcError:
        raise
    except Exception as bug:
        raise BrokenOffError(intent) from bug


def not_sent(error: LocalError) -> LocalError:
    """Says of an error of the journal that it came before anything was sent (promise R70)."""
    error.message = f"{error.message} Nothing was sent."
    error.outcome = "not_sent"
    return error


def _account(session: Session, client: Client, journal: Journal, asked: Asked) -> Account:
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


def _recorded(journal: Journal, asked: Asked, *, new_request: bool) -> Intent:
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
        return _as_known(session, client, journal, intent, error)
    session.note_done(reply.data)
    return reply


def _kept(session: Session, journal: Journal, intent: Intent, end: Reply | SvcError) -> Sent:
    """Keeps an end; raises it where it is an error."""
    if isinstance(end, Reply):
        return Sent(end, _save_done(session, journal, intent, settled_by(end)))
    was_done = intent.settled if intent.state == "done" else None
    lost = _save_end(session, journal, intent, was_done or settled_with(end))
    _explain(session, end, intent, lost)
    raise end


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


def _as_known(
    session: Session, client: Client, journal: Journal, intent: Intent, error: SvcError
) -> SvcError:
    """What an error means for a request of which the journal knows more than this sending."""
    known = error
    if intent.state == "done" and error.outcome != "done":
        known = done_before(intent, error, session.say)
    elif (
        error.outcome == "refused"
        and intent.sent_before
        and not _is_own(session, client, journal, intent)
    ):
        known = refused_to_other_key(intent, error)
    if known is not error:
        known.__cause__ = error
    return known


def _is_own(session: Session, client: Client, journal: Journal, intent: Intent) -> bool:
    """Whether the key in use is shown to be of the account that was asked first."""
    hint = intent.scope.key_hint
    if hint == session.key.fingerprint:
        return True
    from svc.cli.framework.account import account_of

    try:
        return hint in account_of(session, client, journal, (hint,)).same
    except LocalError:
        return False


def _explain(session: Session, error: SvcError, intent: Intent, lost: LocalError | None) -> None:
    """Puts the journal's id and the exact next command into an error (promise R10)."""
    error.idempotency_key = error.idempotency_key or intent.stored.idempotency_key
    if lost is not None and lost.code in LOST:
        if error.outcome == "unknown":
            error.message = f"{error.message} {lost.message}"
            error.hint = (
                "Nothing here knows of it any more. Within 23 hours it is safe to send the same "
                f"again with --idempotency-key {intent.stored.idempotency_key}"
            )
        return
    error.request = intent.id
    if error.outcome != "unknown":
        return
    if error.retryable:
        again = isinstance(error, Contradiction)
        error.hint = resume_command(intent) + (_ASK if again else "")
    else:
        look = where_to_look(intent, session.say)
        error.hint = f"{look}; then svc requests forget {intent.id}"


def _save_done(
    session: Session, journal: Journal, intent: Intent, settled: Settled
) -> LocalError | None:
    try:
        is_ours = journal.settle(intent, settled)
    except LocalError as error:
        return _unsaved(error, intent, settled)
    if not is_ours:
        session.done = None
        raise not_ours(intent, settled)
    return None


def _unsaved(error: LocalError, intent: Intent, settled: Settled) -> LocalError:
    """What was carried out is not in the journal, or not any more (promises R70, R102)."""
    made = f" ({settled.object_id})" if settled.object_id else ""
    lost = error.code in LOST
    return LocalError(
        f"POST {intent.stored.path} was carried out{made}, but the journal could not be "
        f"updated: {error.message}",
        code=error.code,
        outcome="done",
        request=None if lost else intent.id,
        request_id=settled.request_id,
        idempotency_key=intent.stored.idempotency_key,
        hint=error.hint
        if lost
        else f"It stays listed as unresolved; in the end: svc requests forget {intent.id}",
    )


def _save_end(
    session: Session, journal: Journal, intent: Intent, settled: Settled
) -> LocalError | None:
    """Keeps an end that is being reported anyway; failing to do so must not hide it."""
    try:
        journal.settle(intent, settled)
    except LocalError as error:
        if error.code not in LOST or settled.outcome != "unknown":
            session.out.warn(f"The journal could not be updated for {intent.id}: {error.message}")
        return error
    return None
