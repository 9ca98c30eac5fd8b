"""How every POST is sent: recorded first, settled afterwards (promises R2, R10, R70)."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from svc.client.call import Call
from svc.client.client import Client
from svc.client.reply import IsTaken, Reply
from svc.client.retry import KEY_SAFE_SECONDS
from svc.delivery.charges import ChargeReader
from svc.delivery.ending import Sent, as_known, keep
from svc.delivery.evidence import Known, read_known
from svc.delivery.journal import refusals
from svc.delivery.journal.commands import FormatCommand
from svc.delivery.journal.entry import (
    NO_OTHER_KEYS,
    Charge,
    Intent,
    KeyEquivalence,
    NewIntent,
    settle_by_error,
    settle_by_reply,
)
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.limits import charge_said
from svc.delivery.journal.stored import restore_call, store_call
from svc.delivery.journal.transaction import Like
from svc.delivery.policy import CommandDecision, CommandState, decide_command
from svc.delivery.rows import RowJob
from svc.delivery.sender import Sender
from svc.errors import Conflict, LocalError, StopRequest, SvcError
from svc.service import operation as service_operation
from svc.state import LOST

# What a process that was told to end still waits for a journal that another one holds.
_SHORT_SECONDS: Final = 0.1
# The same command within so many seconds of its effect is told, and in live mode refused.
RECENT_SECONDS: Final = 600


class BrokenOffError(Exception):
    """A bug of ours came between a request and its end; `__cause__` is the bug."""

    def __init__(self, intent: Intent) -> None:
        super().__init__(intent.id)
        self.sending = intent


def send_new(
    sender: Sender,
    call: Call,
    *,
    idempotency_key: str | None,
    new_request: bool,
    requested_at: float | None,
) -> Sent:
    """Records a POST, sends it and keeps how it ended.

    `requested_at`, in Unix seconds, is when a person decided on it.

    Raises:
        Conflict: the same request is unresolved, or the key was used for another one; not sent.
        LocalError: it could not be recorded; not sent (promise R2).
        SvcError: as `Client.deliver`, with the journal's id and the next command in it.
    """
    asked = NewIntent(
        call,
        sender.client.prepare(call, idempotency_key=idempotency_key),
        sender.scope,
        key_given=idempotency_key is not None,
        server_time=sender.served.now(),
        requested_at=requested_at,
    )

    def choose(likes: Sequence[Like]) -> Intent | None:
        return choose_command(asked, likes, sender.clock.now(), sender.format_command, sender.note)

    with before_sending(call.path):
        known = _find_used(sender, asked)
    with before_sending(call.path, known):
        asked = asked._replace(
            account=_compare_keys(sender, asked, known), charge=_charge_of(sender, asked)
        )
        intent = sender.journal.record(asked, choose, new_request=new_request)
    return deliver(sender, intent)


def deliver(sender: Sender, intent: Intent) -> Sent:
    """Sends the recorded bytes of a request whose lease is ours (R1), and keeps how it ended."""
    end: Reply | SvcError | None = None
    try:
        end = _send(sender, intent)
        return keep(sender, intent, end)
    except StopRequest as stopped:
        _leave(sender.journal, intent, end, stopped)
        raise
    except SvcError:
        raise
    except Exception as bug:
        raise BrokenOffError(intent) from bug


@contextmanager
def before_sending(path: str, known: Intent | None = None) -> Iterator[None]:
    """Says of a signal, or an error of the journal, that it came before a byte was sent (R70).

    What an earlier sending has left unresolved stays unknown (R10), whatever keeps it from being
    sent again: `known` is the journal's record of that.
    """
    unknown = known if known is not None and known.is_unresolved else None
    try:
        yield
    except StopRequest as stopped:
        stopped.unsent, stopped.sending = path, unknown
        raise
    except SvcError as error:
        if isinstance(error, LocalError):
            not_sent(error)
        # A conflict says itself of which request it speaks.
        if not (unknown is None or isinstance(error, Conflict)) and error.outcome != "unknown":
            error.outcome, error.idempotency_key = "unknown", unknown.stored.idempotency_key
            error.request = None if error.code in LOST else unknown.id
        raise


def not_sent(error: LocalError) -> LocalError:
    """Says of an error of the journal that it came before anything was sent (promise R70)."""
    error.message = f"{error.message} Nothing was sent."
    error.outcome = "not_sent"
    return error


def _find_used(sender: Sender, asked: NewIntent) -> Intent | None:
    """The request that used the user's key before; a fresh key stands in no row."""
    key = asked.prepared.idempotency_key
    return sender.journal.by_key(key, asked.scope) if asked.key_given and key else None


def _compare_keys(sender: Sender, asked: NewIntent, known: Intent | None) -> KeyEquivalence:
    """What is known of other keys under which the same was begun, or the user's key was used.

    Raises:
        OutcomeUnknown, Conflict: the user's key is too old to be sent again at all (promise R4).
    """
    other_keys = sender.journal.list_other_keys(asked)
    if known is not None:
        sender.served.refuse_expired(known)
        other_keys |= {known.scope.key_fingerprint}
    if other_keys <= {asked.scope.key_fingerprint}:
        return NO_OTHER_KEYS
    return sender.accounts.compare(other_keys)


def _charge_of(sender: Sender, asked: NewIntent) -> Charge | None:
    """What it moves, read where a limit holds for it and its own bytes do not say it."""
    if not sender.journal.is_limited(asked.scope, asked.call.path):
        return None
    said = charge_said(store_call(asked.call, asked.prepared))
    charge = ChargeReader(sender.client).complete_charge(asked.call, said)
    if charge != said:
        sender.client.reconnect()  # an order that was read looks like the answer to its capture
    return charge


def choose_command(
    asked: NewIntent,
    likes: Sequence[Like],
    now: float,
    format_command: FormatCommand,
    note: Callable[[str], None],
) -> Intent | None:
    """Says which earlier request is sent again; None for a new one.

    Raises:
        Conflict: the same is unresolved, or was done a moment ago (promises R5, R115).
    """
    state, found = _command_state(asked, likes, now)
    decision = decide_command(state)
    if found is None:
        return None
    intent = found.intent
    if decision is CommandDecision.STOP_UNRESOLVED:
        if found.is_sending:
            raise refusals.DUPLICATE_IN_FLIGHT.about(intent)
        raise refusals.refusal_of_duplicate(intent, now)
    if decision is CommandDecision.STOP_MEANWHILE:
        raise refusals.DONE_MEANWHILE.about(intent, format_command)
    if decision is CommandDecision.STOP_RECENT:
        raise refusals.DONE_RECENTLY.about(intent, format_command)
    if decision is CommandDecision.NOTE:
        note(refusals.note_recent(intent))
    return intent if decision is CommandDecision.SAME_KEY else None


def _command_state(
    asked: NewIntent, likes: Sequence[Like], now: float
) -> tuple[CommandState, Like | None]:
    """What decides over a single command, and the like request that it stands on."""
    found = next((one for one in likes if one.intent.is_unresolved), None) or next(
        (one for one in likes if read_known(one.intent) is not Known.FAILED), None
    )
    if found is None:
        return CommandState(Known.NOTHING), None
    intent, operation = found.intent, service_operation(asked.call.operation)
    settled_at = intent.settled_at or 0.0
    return CommandState(
        read_known(intent),
        is_meanwhile=asked.requested_at is not None and settled_at >= asked.requested_at,
        is_recent=0 <= now - settled_at < RECENT_SECONDS,
        is_exact=_is_exact(asked, intent, now),
        doubles=operation is not None and operation[1].twice,
        is_live=asked.scope.mode == "live",
        has_own_key=asked.key_given,
    ), found


def _is_exact(asked: NewIntent, intent: Intent, now: float) -> bool:
    """Whether an earlier request is the same to the letter, and its key may be sent again."""
    same = store_call(asked.call, asked.prepared)._replace(
        idempotency_key=intent.stored.idempotency_key
    )
    is_young = 0 <= now - intent.first_sent_at < KEY_SAFE_SECONDS
    return (
        intent.is_kept_open
        and intent.batch is None
        and not intent.key_given
        and is_young
        and intent.stored == same
        and asked.is_own(intent.scope.key_fingerprint)
        and intent.scope.profile == asked.scope.profile
    )


def send_row(client: Client, job: RowJob, is_taken: IsTaken) -> Reply:
    """Sends the recorded request of a row; raises as `Client.deliver`."""
    return client.deliver(
        job.call,
        job.prepared,
        sent_before=job.intent.sent_before,
        first_sent_at=job.intent.first_sent_at,
        is_taken=is_taken,
    )


def _send(sender: Sender, intent: Intent) -> Reply | SvcError:
    """Sends it; gives the answer, or the error that its end is."""

    def is_taken(made: str, world: str | None) -> bool:
        try:
            return sender.journal.is_taken(intent, made, world)
        except LocalError:
            return False  # settling it finds the same trouble, and says so

    try:
        call, prepared = restore_call(intent.stored, sender.base_url)
        reply = sender.client.deliver(
            call,
            prepared,
            sent_before=intent.sent_before,
            first_sent_at=intent.first_sent_at,
            is_taken=is_taken,
        )
    except SvcError as error:
        return as_known(sender, intent, error)
    sender.note_done(reply.data)
    return reply


def _leave(
    journal: Journal, intent: Intent, end: Reply | SvcError | None, stopped: StopRequest
) -> None:
    """A signal came: what is known by now is kept, in a moment, and told."""
    if end is None:
        stopped.sending = intent
        return
    journal.shorten_timeout(_SHORT_SECONDS)
    settled = settle_by_reply(end) if isinstance(end, Reply) else settle_by_error(end)
    with suppress(LocalError):
        journal.settle(intent, settled)
    if isinstance(end, SvcError):
        stopped.sending = intent if settled.outcome == "unknown" else None
        stopped.ended = end
