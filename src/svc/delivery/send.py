"""Sends a POST: records it before, settles it afterwards (promises R2, R10, R70).

Every POST goes through here: a single command by `send_new` (`cli.framework.delivering`), `svc
requests resume` by `deliver`, a row of a batch by `send_intent` (`batch.workers`). In between
`Client.deliver` sends. Where a money limit applies, a `ChargeReader` reads the amount before. After
the last attempt `record_outcome` settles the request: a `Sent`, or the error with the journal's id
and the command that continues. Single POSTs work with a `Sender`, which `cli.framework.delivering`
makes, so that they know neither a command line nor a terminal; the rows of a batch have none.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple

from svc.base_url import BaseUrl
from svc.client import find
from svc.client.call import Call
from svc.client.client import Client
from svc.client.contradiction import Contradiction
from svc.client.operations import action_at
from svc.client.reply import IsClaimedByOther, Reply
from svc.client.request import Prepared
from svc.client.retry import CLOCK_STEP_SECONDS, KEY_SAFE_SECONDS, explain_repeat
from svc.clock import Clock
from svc.delivery.account import KeyMatcher
from svc.delivery.evidence import Known, read_known
from svc.delivery.journal import refusals
from svc.delivery.journal.entry import (
    Charge,
    Intent,
    KeyEquivalence,
    NewIntent,
    Scope,
    Settled,
    restore_call,
    settle_by_error,
    settle_by_reply,
    store_call,
)
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.limits import check_amount, read_stated_charge, takes_amount
from svc.delivery.journal.refusals import (
    DONE_BEFORE,
    FormatCommand,
    build_not_ours,
    build_refused_to_other_key,
    resume_command,
    suggest_lookup,
)
from svc.delivery.journal.transaction import RECENT_SECONDS, Like
from svc.delivery.policy import CommandDecision, CommandState, decide_command
from svc.errors import Conflict, Forbidden, LocalError, StopRequest, SvcError
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
    if intent.state == "done" and error.outcome != "done":
        return DONE_BEFORE.about(intent, sender.format_command, answer=error, why=error.message)
    if error.outcome == "refused" and intent.sent_before and not _is_own(sender.accounts, intent):
        return build_refused_to_other_key(intent, error)
    return error


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


# What a process that was told to end still waits for a journal that another one holds.
_SHORT_SECONDS: Final = 0.1


class BrokenOffError(Exception):
    """A bug of svc stopped a request before its outcome was known; `__cause__` is the bug."""

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
    """Records a POST, sends it and records its outcome.

    `requested_at`, in Unix seconds, is when a person decided on it.

    Raises:
        Conflict: the same request is unresolved, or the key was used for another one; not sent.
        LocalError: the request could not be recorded; not sent (promise R2).
        SvcError: as `Client.deliver`, with the journal's id and the next command in it.
    """
    asked = NewIntent(
        store_call(call, sender.client.prepare(call, idempotency_key=idempotency_key)),
        sender.scope,
        key_given=idempotency_key is not None,
        server_time=sender.read_server_time(),
        requested_at=requested_at,
    )

    told: list[str] = []

    def choose(likes: Sequence[Like]) -> Intent | None:
        return choose_command(asked, likes, sender.clock.now(), sender.format_command, told.append)

    with mark_as_unsent(call.path):  # the earlier request that used the user's key, or None
        known = sender.journal.by_key(idempotency_key, asked.scope) if idempotency_key else None
    with mark_as_unsent(call.path, known):
        asked = asked._replace(
            account=_compare_keys(sender, asked, known), charge=_read_charge(sender, asked, call)
        )
        intent = sender.journal.record(asked, choose, new_request=new_request)
    for note in told:  # only now: a limit may have refused it
        sender.note(note)
    return deliver(sender, intent)


def deliver(sender: Sender, intent: Intent) -> Sent:
    """Sends a recorded request whose lease this process holds (R1), and records its outcome."""
    end: Reply | SvcError | None = None
    try:
        end = _send(sender, intent)
        return record_outcome(sender, intent, end)
    except StopRequest as stopped:
        _settle_interrupted(sender.journal, intent, end, stopped)
        raise
    except SvcError:
        raise
    except Exception as bug:
        raise BrokenOffError(intent) from bug


@contextmanager
def mark_as_unsent(path: str, known: Intent | None = None) -> Iterator[None]:
    """Marks a signal or a journal error within the block as "nothing was sent" (R70).

    `known` is an earlier sending of the same request. If its outcome is unknown, the error reports
    that as well: not sending again does not settle it (R10).
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
    """Marks an error of the journal as "nothing was sent" (promise R70)."""
    error.message = f"{error.message} Nothing was sent."
    error.outcome = "not_sent"
    return error


def _compare_keys(sender: Sender, asked: NewIntent, known: Intent | None) -> KeyEquivalence:
    """Compares the accounts of other API keys that sent a duplicate or the same idempotency key.

    Raises:
        OutcomeUnknown, Conflict: the idempotency key is too old to be sent again (promise R4).
    """
    earlier = set()
    if known is not None:
        sender.refuse_expired(known)
        earlier = {known.scope.key_fingerprint}
    return sender.accounts.compare(sender.journal.list_other_keys(asked) | earlier)


def _read_charge(sender: Sender, asked: NewIntent, call: Call) -> Charge | None:
    """Reads the amount that a request moves, from the service if its bytes do not contain it.

    None if no limit of the configuration applies to the request.
    """
    if not sender.journal.is_limited(asked.scope, call.path):
        return None
    said = read_stated_charge(asked.stored)
    charge = ChargeReader(sender.client).complete_charge(call, said)
    if charge != said:
        sender.client.close()  # an order that was read looks like the answer to its capture
    return charge


class ChargeReader:
    """Reads the amounts of payments, orders and disputes, each object once."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._known: dict[str, Charge] = {}

    def complete_charge(self, call: Call, said: Charge) -> Charge:
        """Returns the most that a request can move; unknown if the service does not report it.

        A request without an amount counts with the whole amount of its object, even if a part has
        been taken already: the remaining amount may increase before the request is carried out.

        Raises:
            SvcError: the service cannot be asked; nothing was sent.
        """
        reading = find.money_of(call)
        if reading is None or None not in said:
            return said
        if reading.path not in self._known:
            self._known[reading.path] = self._read(reading)
        whole = self._known[reading.path]
        takes_all = not takes_amount(call.path) or (call.body or {}).get("amount") is None
        return Charge(whole.amount if takes_all else said.amount, said.currency or whole.currency)

    def _read(self, reading: Call) -> Charge:
        try:
            data = self._client.send(reading).data
        except Forbidden:
            return Charge()  # the limit refuses what cannot be told
        except SvcError as error:
            error.outcome = "not_sent"
            raise
        if not isinstance(data, dict):
            return Charge()
        whole, _ = find.amounts_of(data)
        currency = data.get("currency")
        most = whole or data.get("amount")  # nothing is captured yet, and may be in a moment
        return Charge(check_amount(most), currency if isinstance(currency, str) else None)


def choose_command(
    asked: NewIntent,
    likes: Sequence[Like],
    now: float,
    format_command: FormatCommand,
    note: Callable[[str], None],
) -> Intent | None:
    """Returns the earlier request that is sent again, or None if a new one is sent.

    Raises:
        Conflict: a duplicate is unresolved, or was done a moment ago (promises R5, R115).
    """
    found = next((one for one in likes if one.intent.is_unresolved), None) or next(
        (one for one in likes if read_known(one.intent) is not Known.FAILED), None
    )
    if found is None:
        return None
    intent = found.intent
    decision = decide_command(_command_state(asked, intent, now))
    if decision is CommandDecision.STOP_UNRESOLVED:
        if found.is_sending:
            raise refusals.DUPLICATE_IN_FLIGHT.about(intent)
        raise refusals.build_duplicate_error(intent, asked.likeness, now)
    if decision is CommandDecision.STOP_MEANWHILE:
        raise refusals.DONE_MEANWHILE.about(intent, format_command)
    if decision is CommandDecision.STOP_RECENT:
        raise refusals.DONE_RECENTLY.about(intent, format_command, likeness=asked.likeness)
    if decision is CommandDecision.NOTE:
        note(refusals.note_recent(intent, asked.likeness))
    return intent if decision is CommandDecision.SAME_KEY else None


def _command_state(asked: NewIntent, intent: Intent, now: float) -> CommandState:
    """The state by which a single command is decided beside a duplicate."""
    operation, settled_at = action_at(asked.stored.path), intent.settled_at or 0.0
    return CommandState(
        read_known(intent),
        # What was done after now, was done by a clock that was ahead; when, is not known.
        is_meanwhile=(
            asked.requested_at is not None
            and intent.likeness == asked.likeness
            and asked.requested_at <= settled_at <= now + CLOCK_STEP_SECONDS
        ),
        is_recent=now - settled_at < RECENT_SECONDS,
        is_exact=_is_exact(asked, intent, now),
        doubles=operation is not None and operation[1].twice,
        is_live=asked.scope.mode == "live",
        has_own_key=asked.key_given,
    )


def _is_exact(asked: NewIntent, intent: Intent, now: float) -> bool:
    """Whether an earlier request has the same bytes, and its key may be sent again."""
    same = asked.stored._replace(idempotency_key=intent.stored.idempotency_key)
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


def send_intent(
    client: Client, intent: Intent, request: tuple[Call, Prepared], is_other: IsClaimedByOther
) -> Reply:
    """Sends a recorded request, as `restore_call` returns it; raises as `Client.deliver`."""
    return client.deliver(
        *request,
        sent_before=intent.sent_before,
        first_sent_at=intent.first_sent_at,
        is_claimed_by_other=is_other,
    )


def _send(sender: Sender, intent: Intent) -> Reply | SvcError:
    """Sends a recorded request; returns the answer, or the error that is its outcome."""

    def is_claimed_by_other(made: str, world: str | None) -> bool:
        try:
            return sender.journal.is_claimed_by_other(intent, made, world)
        except LocalError:
            return False  # settling it finds the same trouble, and says so

    try:
        request = restore_call(intent.stored, sender.base_url)
        reply = send_intent(sender.client, intent, request, is_claimed_by_other)
        # A key that was made for this sending can have been used by a proxy alone, just now.
        if intent.sendings == 1 and not intent.key_given and intent.batch is None:
            reply = reply._replace(is_repeat=True)
    except SvcError as error:
        return adapt_to_journal(sender, intent, error)
    sender.note_done(reply.data)
    return reply


def _settle_interrupted(
    journal: Journal, intent: Intent, end: Reply | SvcError | None, stopped: StopRequest
) -> None:
    """Settles a request that a signal interrupted, if its outcome is known; without waiting long.

    The signal's exception gets the request whose outcome is unknown, or the error.
    """
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
