"""How every POST is sent: recorded first, settled afterwards (promises R2, R10, R70)."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple

from svc.cli.session import Session
from svc.cli.signals import Stopped
from svc.client.call import Call
from svc.client.client import Client
from svc.client.journal.entry import Asked, Intent, Scope, Settled, settled_by, settled_with
from svc.client.journal.journal import Journal
from svc.client.journal.leases import Leases
from svc.client.journal.refusals import (
    done_before,
    refused_to_other_key,
    resume_command,
    where_to_look,
)
from svc.client.prepared import Prepared
from svc.client.replies import Reply
from svc.errors import LocalError, OutcomeUnknown, SvcError


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
def journal(session: Session) -> Iterator[Journal]:
    """The requests of the state database; the database is opened when it is first needed."""
    with closing(Leases(session.paths.state_dir / "senders")) as leases:
        yield Journal(session.state, leases, session.clock)


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
) -> Sent:
    """Records a POST, sends it and keeps how it ended.

    Raises:
        Conflict: the same request is unresolved, or the key was used for another one; not sent.
        LocalError: it could not be recorded; not sent (promise R2).
        SvcError: as `Client.deliver`, with the journal's id and the next command in it.
    """
    prepared = client.prepare(call, idempotency_key=idempotency_key)
    with journal(session) as intents:
        try:
            # A fresh key is in no row, so nobody need ask what became of it.
            former = _own_hints(session, client, intents, idempotency_key)
            asked = Asked(call, prepared, scope_of(session), former_hints=former)
            intent = intents.record(asked, new_request=new_request)
        except LocalError as error:
            raise not_sent(error) from error
        return deliver(session, client, intents, intent, (call, prepared))


def deliver(
    session: Session,
    client: Client,
    intents: Journal,
    intent: Intent,
    request: tuple[Call, Prepared],
) -> Sent:
    """Sends a recorded request whose lease is held, and keeps how it ended."""
    call, prepared = request
    try:
        reply = client.deliver(
            call, prepared, sent_before=intent.sent_before, first_sent_at=intent.first_sent_at
        )
        session.note_done(reply.data)
        return Sent(reply, _save_done(intents, intent, settled_by(reply)))
    except SvcError as error:
        known = _as_known(error, intent, lambda: _is_own(session, client, intents, intent))
        _explain(known, intent)
        was_done = intent.settled if intent.state == "done" else None
        _save_end(session, intents, intent, was_done or settled_with(known))
        raise known from (error.__cause__ if known is error else error)
    except Stopped as stopped:
        stopped.sending = intent
        raise
    except Exception as bug:
        raise BrokenOffError(intent) from bug


def not_sent(error: LocalError) -> LocalError:
    """Says of an error of the journal that it came before anything was sent (promise R70)."""
    error.message = f"{error.message} Nothing was sent."
    error.outcome = "not_sent"
    return error


def _own_hints(
    session: Session, client: Client, intents: Journal, idempotency_key: str | None
) -> frozenset[str]:
    """Of the user's own key: the fingerprints under which its request may be sent again.

    Raises:
        OutcomeUnknown, Conflict: it is too old to be sent again at all (promise R4).
    """
    if idempotency_key is None:
        return frozenset()
    known = intents.by_key(idempotency_key, scope_of(session))
    if known is None:
        return frozenset()
    from svc.cli.journalled_account import hints_of_account
    from svc.cli.journalled_ages import refuse_forgotten

    refuse_forgotten(session, known)
    return hints_of_account(session, client, intents, frozenset((known.scope.key_hint,)))


def _as_known(error: SvcError, intent: Intent, is_own: Callable[[], bool]) -> SvcError:
    """What an error means for a request of which the journal knows more than this sending."""
    if intent.state == "done" and error.outcome != "done":
        return done_before(intent, error)
    if error.outcome == "refused" and intent.sent_before and not is_own():
        return refused_to_other_key(intent, error)
    return error


def _is_own(session: Session, client: Client, intents: Journal, intent: Intent) -> bool:
    """Whether the key in use is known to be of the account that was asked first."""
    if intent.scope.key_hint == session.key.fingerprint:
        return True
    from svc.cli.journalled_account import is_same_account

    try:
        return is_same_account(session, client, intents, intent.scope.key_hint)
    except LocalError:
        return False


def _explain(error: SvcError, intent: Intent) -> None:
    """Puts the journal's id and the exact next command into an error (promise R10)."""
    error.request = intent.id
    if not isinstance(error, OutcomeUnknown):
        return
    if error.retryable:
        error.hint = resume_command(intent)
    else:
        error.hint = f"{where_to_look(intent)}; then svc requests forget {intent.id}"


def _save_done(intents: Journal, intent: Intent, settled: Settled) -> LocalError | None:
    try:
        intents.settle(intent, settled)
    except LocalError as error:
        made = f" ({settled.object_id})" if settled.object_id else ""
        return LocalError(
            f"POST {intent.stored.path} was carried out{made}, but the journal could not be "
            f"updated: {error.message}",
            code=error.code,
            outcome="done",
            request=intent.id,
            request_id=settled.request_id,
            idempotency_key=intent.stored.idempotency_key,
            hint=f"It stays listed as unresolved; in the end: svc requests forget {intent.id}",
        )
    return None


def _save_end(session: Session, intents: Journal, intent: Intent, settled: Settled) -> None:
    """Keeps an end that is being reported anyway; failing to do so must not hide it."""
    try:
        intents.settle(intent, settled)
    except LocalError as error:
        session.out.warn(f"The journal could not be updated for {intent.id}: {error.message}")
