"""How a recorded POST ended: kept in the journal, and said in the error (promises R10, R70)."""

from typing import NamedTuple

from svc.client.contradiction import Contradiction
from svc.client.reply import Reply
from svc.client.retry import explain_repeat
from svc.delivery.account import KeyMatcher
from svc.delivery.journal.commands import FormatCommand, resume_command, suggest_lookup
from svc.delivery.journal.entry import Intent, Settled, settle_by_error, settle_by_reply
from svc.delivery.journal.refusals import DONE_BEFORE, build_refused_to_other_key, not_ours
from svc.delivery.sender import Sender
from svc.errors import LocalError, SvcError
from svc.state import LOST

_ASK = "; if the answer stays the same, ask the service, naming the request id"


class Sent(NamedTuple):
    """A request that was carried out.

    Attributes:
        unsaved: why the journal does not know it, or None; to be raised once the result is shown.
    """

    reply: Reply
    unsaved: LocalError | None


def keep(sender: Sender, intent: Intent, end: Reply | SvcError) -> Sent:
    """Keeps an end in the journal; raises it where it is an error.

    Raises:
        SvcError: the end, with the journal's id and the next command in it (promise R10).
    """
    if isinstance(end, Reply):
        return Sent(end, _save_done(sender, intent, settle_by_reply(end)))
    was_done = intent.settled if intent.state == "done" else None
    lost = _save_end(sender, intent, was_done or settle_by_error(end))
    _explain(sender.format_command, end, intent, lost)
    raise end


def as_known(sender: Sender, intent: Intent, error: SvcError) -> SvcError:
    """What an error means for a request of which the journal knows more than this sending."""
    known = error
    if intent.state == "done" and error.outcome != "done":
        known = DONE_BEFORE.about(intent, sender.format_command, answer=error, why=error.message)
    elif error.outcome == "refused" and intent.sent_before and not _is_own(sender.accounts, intent):
        known = build_refused_to_other_key(intent, error)
    if known is not error:
        known.__cause__ = error
    return known


def _is_own(accounts: KeyMatcher, intent: Intent) -> bool:
    """Whether the key in use is shown to be of the account that was asked first."""
    try:
        return accounts.is_own(intent.scope.key_fingerprint)
    except LocalError:
        return False


def _explain(
    format_command: FormatCommand, error: SvcError, intent: Intent, lost: LocalError | None
) -> None:
    """Puts the journal's id and the exact next command into an error (promise R10)."""
    error.idempotency_key = error.idempotency_key or intent.stored.idempotency_key
    if lost is not None and lost.code in LOST:
        if error.outcome == "unknown":
            error.message = f"{error.message} {lost.message}"
            error.hint = (
                "Nothing here knows of it any more. "
                f"{explain_repeat(intent.stored.idempotency_key, 'the same')}"
            )
        return
    error.request = intent.id
    if error.outcome != "unknown":
        return
    if error.retryable:
        again = isinstance(error, Contradiction)
        error.hint = resume_command(intent) + (_ASK if again else "")
    else:
        look = suggest_lookup(intent, format_command)
        error.hint = f"{look}; then svc requests forget {intent.id}"


def _save_done(sender: Sender, intent: Intent, settled: Settled) -> LocalError | None:
    try:
        is_ours = sender.journal.settle(intent, settled)
    except LocalError as error:
        return _build_unsaved(error, intent, settled)
    if not is_ours:
        sender.note_done(None)
        raise not_ours(intent, settled)
    return None


def _build_unsaved(error: LocalError, intent: Intent, settled: Settled) -> LocalError:
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


def _save_end(sender: Sender, intent: Intent, settled: Settled) -> LocalError | None:
    """Keeps an end that is being reported anyway; failing to do so must not hide it."""
    try:
        sender.journal.settle(intent, settled)
    except LocalError as error:
        if error.code not in LOST or settled.outcome != "unknown":
            sender.warn(f"The journal could not be updated for {intent.id}: {error.message}")
        return error
    return None
