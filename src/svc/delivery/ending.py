"""Settles a recorded POST in the journal and completes its error (promises R10, R70).

`send` calls `record_outcome` after the last attempt: the reply or error in, a `Sent` out, or the
error with the journal's id and the command that continues. Both work with a `Sender`, which
`cli.framework.delivering` makes for a single POST, so that they know neither a command line nor a
terminal. The rows of a batch have none.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from svc.base_url import BaseUrl
from svc.client.client import Client
from svc.client.contradiction import Contradiction
from svc.client.reply import Reply
from svc.client.retry import explain_repeat
from svc.clock import Clock
from svc.delivery.account import KeyMatcher
from svc.delivery.journal.commands import FormatCommand, resume_command, suggest_lookup
from svc.delivery.journal.entry import Intent, Scope, Settled, settle_by_error, settle_by_reply
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.refusals import DONE_BEFORE, build_not_ours, build_refused_to_other_key
from svc.errors import LocalError, SvcError
from svc.state import LOST

_ASK = "; if the answer stays the same, ask the service, naming the request id"


class Sender(NamedTuple):
    """What a delivery works with.

    Attributes:
        scope: for whom and where, with the fingerprint of the key in use.
        accounts: compares other keys with it.
        read_server_time: returns Unix seconds by a sandbox's clock; None for any other service.
        refuse_expired: raises an error if the service may have forgotten a request's key by its
            own clock, a sandbox's or the `Date` of a GET (promise R4).
        format_command: writes the command line of a hint.
        clock: of this machine.
        warn, note: tell a person something on stderr.
        note_done: is given what a POST has made, or None if it was the object of another request.
    """

    journal: Journal
    client: Client
    scope: Scope
    base_url: BaseUrl
    accounts: KeyMatcher
    read_server_time: Callable[[], float | None]
    refuse_expired: Callable[[Intent], None]
    format_command: FormatCommand
    clock: Clock
    warn: Callable[[str], None]
    note: Callable[[str], None]
    note_done: Callable[[Any], None]


class Sent(NamedTuple):
    """A request that was carried out.

    Attributes:
        unsaved: why the journal has not recorded it, or None; raised after the result is printed.
    """

    reply: Reply
    unsaved: LocalError | None


def record_outcome(sender: Sender, intent: Intent, end: Reply | SvcError) -> Sent:
    """Settles a request in the journal; raises its outcome if that is an error.

    Raises:
        SvcError: the outcome, with the journal's id and the next command (promise R10).
    """
    if isinstance(end, Reply):
        return Sent(end, _save_done(sender, intent, settle_by_reply(end)))
    was_done = intent.settled if intent.state == "done" else None
    lost = _save_end(sender, intent, was_done or settle_by_error(end))
    _explain(sender.format_command, end, intent, lost)
    raise end


def adapt_to_journal(sender: Sender, intent: Intent, error: SvcError) -> SvcError:
    """Adapts the error of a sending to the earlier sendings in the journal.

    A refusal by a key of another account, for example, does not settle an earlier sending.
    """
    known = error
    if intent.state == "done" and error.outcome != "done":
        known = DONE_BEFORE.about(intent, sender.format_command, answer=error, why=error.message)
    elif error.outcome == "refused" and intent.sent_before and not _is_own(sender.accounts, intent):
        known = build_refused_to_other_key(intent, error)
    if known is not error:
        known.__cause__ = error
    return known


def _is_own(accounts: KeyMatcher, intent: Intent) -> bool:
    """Whether the key in use is known to be of the account of the first sending."""
    try:
        return accounts.is_own(intent.scope.key_fingerprint)
    except LocalError:
        return False


def _explain(
    format_command: FormatCommand, error: SvcError, intent: Intent, lost: LocalError | None
) -> None:
    """Adds the journal's id and the exact next command to an error (promise R10)."""
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
        raise build_not_ours(intent, settled)
    return None


def _build_unsaved(error: LocalError, intent: Intent, settled: Settled) -> LocalError:
    """Builds the error for a request that was carried out and is not in the journal (R70, R102)."""
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
    """Settles a request whose error is reported; returns an error of the journal."""
    try:
        sender.journal.settle(intent, settled)
    except LocalError as error:
        if error.code not in LOST or settled.outcome != "unknown":
            sender.warn(f"The journal could not be updated for {intent.id}: {error.message}")
        return error
    return None
