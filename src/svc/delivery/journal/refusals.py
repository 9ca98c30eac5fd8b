"""The errors for requests that are not sent, or not sent again: code, message, next command, class.

Each reason is a `SendRefusal`, a constant of this module; its `about` builds the error for one
request (promises R4, R5, R12).

`transaction`, `send` and `svc requests` raise them when a decision refuses a request. The command
lines of their hints (how to resume a request, how to see its effect) are made here as well; errors
of `cli` end with these lines too, to be copied into a shell.
"""

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from svc.client.refusal import NOT_OURS
from svc.client.retry import CLOCK_STEP_SECONDS, KEY_SAFE_SECONDS
from svc.clock import utc
from svc.delivery.journal.entry import Intent, Scope, Settled
from svc.delivery.likeness import UnreadableBody, fields_of
from svc.errors import Conflict, NotFound, Outcome, OutcomeUnknown, SvcError
from svc.service.facts import IDEMPOTENCY_RETENTION_SECONDS

# A clock that differs a little from the service's must not hide the object.
_MARGIN_SECONDS = 300

# Writes out the words of a command, such as `orders list`, for the profile and address of a scope.
FormatCommand: TypeAlias = Callable[[Scope, str], str]


def format_full_command(scope: Scope, words: str) -> str:
    """Completes a command line with the profile, mode and address of a request."""
    live = " --live" if scope.mode == "live" else ""
    return f"svc {words} --profile {scope.profile} --base-url {scope.base_url}{live}"


def resume_command(intent: Intent) -> str:
    """The command line that sends a request again with its own idempotency key."""
    return resume_of(intent.id, intent.scope.mode)


def resume_of(request: str, mode: str) -> str:
    """The command line that resumes a request by its id.

    Only the mode has to be given: profile and address are read from the record.
    """
    return f"svc requests resume {request}{' --live' if mode == 'live' else ''}"


def suggest_lookup(intent: Intent, format_command: FormatCommand) -> str:
    """The sentence `See what it did: svc ...`, with a command that shows what the request did."""
    words = _command(intent)
    if words is None:
        return "Look at the service's dashboard for what it did"
    return f"See what it did: {format_command(intent.scope, words)}"


def _command(intent: Intent) -> str | None:
    since = f"--all --created-gte {utc(intent.first_sent_at - _MARGIN_SECONDS)}"
    match intent.stored.path.split("/")[2:]:
        case ["orders"]:
            return f"orders list {since}"
        case ["orders", order, *_]:
            return f"orders retrieve {order}"
        case ["refunds"]:  # by its payment, as the list of refunds may fail
            payment = _read_payment(intent)
            return f"payments retrieve {payment}" if payment else "refunds list --all"
        case ["payouts"]:
            return f"payouts list {since}"
        case ["disputes", dispute, *_]:
            return f"disputes retrieve {dispute}"
    return None


def _read_payment(intent: Intent) -> str | None:
    try:
        payment = fields_of(intent.stored.encoding, intent.stored.body).get("payment")
    except UnreadableBody:
        return None
    is_plain = isinstance(payment, str) and payment.isascii() and payment.replace("_", "").isalnum()
    return str(payment) if is_plain else None


def is_too_old(intent: Intent, now: float) -> bool:
    """Whether the service may have forgotten the key, and would act a second time."""
    return now - intent.first_sent_at >= KEY_SAFE_SECONDS


def is_in_the_future(intent: Intent, now: float) -> bool:
    """Whether the clock was set back, so that the key's age is unknown.

    A step back of some seconds is ignored: time synchronisation makes such steps.
    """
    return now < intent.first_sent_at - CLOCK_STEP_SECONDS


_REWORDED: Final = "A request that may be the same in other words"


class _RequestWords:
    """The values of a request that a refusal's message may name."""

    safe_hours = KEY_SAFE_SECONDS // 3600
    kept_hours = IDEMPOTENCY_RETENTION_SECONDS // 3600

    def __init__(
        self, intent: Intent, format_command: FormatCommand, likeness: str | None = None
    ) -> None:
        is_same = likeness in (None, intent.likeness)
        self.same = "The same request" if is_same else _REWORDED
        made = intent.settled.object_id if intent.settled else None
        self.id, self.key, self.account = intent.id, intent.stored.idempotency_key, intent.scope
        self.what = f"POST {intent.stored.path}"
        self.begun, self.sent = utc(intent.created_at), utc(intent.first_sent_at)
        self.ended = utc(intent.settled_at or intent.first_sent_at)
        self.made = f" ({made})" if made else ""
        self.as_made = f": {made}" if made else ""
        self.show = f"svc requests show {intent.id}"
        self.look = format_command(intent.scope, f"get {made}") if made else self.show
        self.resume = resume_command(intent)
        self.search = suggest_lookup(intent, format_command)


class SendRefusal(NamedTuple):
    """One reason not to send; `message` and `hint` are formatted with the request as `r`."""

    code: str
    message: str
    hint: str
    kind: type[SvcError] = Conflict
    outcome: Outcome = "not_sent"

    def about(
        self,
        intent: Intent,
        format_command: FormatCommand = format_full_command,
        *,
        answer: SvcError | Settled | None = None,
        likeness: str | None = None,
        **words: str,
    ) -> SvcError:
        """Builds the error for one request, with the service's answer if there is one.

        `likeness` is that of a request that is not sent because of this one, if it may be another.
        `words` are the values that the message needs besides those of the request.
        """
        told = _RequestWords(intent, format_command, likeness)
        return self.kind(
            self.message.format(r=told, **words),
            code=self.code,
            outcome=self.outcome,
            request=intent.id,
            idempotency_key=told.key,
            status=answer.status if answer else None,
            request_id=answer.request_id if answer else None,
            retryable=self.code == NOT_OURS,
            hint=self.hint.format(r=told, **words),
        )


IN_FLIGHT: Final = SendRefusal(
    "request_in_flight",
    "The request {r.id} ({r.what}) is being sent by another process now.",
    "Wait for it, then look: {r.show}",
    outcome="unknown",
)
DUPLICATE_IN_FLIGHT: Final = SendRefusal(  # promise R5
    "request_in_flight",
    "The same request ({r.what}) is being sent by another process now. Nothing was sent by this "
    "one.",
    "Wait for it: {r.show}; to send a second one, add --new-request",
)
DUPLICATE: Final = SendRefusal(  # promise R5
    "request_unresolved",
    "{r.same} ({r.what}) was begun at {r.begun} and its outcome is not known. Nothing was sent "
    "now.",
    "{r.resume}; to send a second one, add --new-request",
)
OLD_DUPLICATE: Final = DUPLICATE._replace(
    hint="svc requests resume {r.id} says where to see what it did; to send a second one, add "
    "--new-request"
)
BEGUN_ANEW: Final = SendRefusal(  # promise R91
    "request_unresolved",
    "The same request ({r.what}) was begun once more at {r.begun} and its outcome is not known. "
    "Nothing was sent now.",
    "Settle that one first: {r.resume}",
)
_DONE: Final = "{r.same} ({r.what}) was carried out %s{r.as_made}. Nothing was sent now."
DONE_MEANWHILE: Final = SendRefusal(  # promise R91
    "request_settled",
    _DONE % "by another process after this command had begun",
    "See it: {r.look}; to send a second one all the same, add --new-request",
)
DONE_RECENTLY: Final = SendRefusal(  # promise R115: less than ten minutes ago, and money moves
    "request_settled",
    _DONE % "a moment ago, at {r.ended}",
    "See it: {r.look}; to do it a second time, add --new-request",
)
DONE_ANEW: Final = SendRefusal(  # promise R91
    "request_settled",
    _DONE % "by another one, begun later at {r.begun}",
    "See it: {r.look}; to do it a second time, give its command again, do not resume",
)
DONE_UNAWARE: Final = SendRefusal(  # promise R115: svc did not know of this one then
    "request_unresolved",
    "The request {r.id} ({r.what}) was sent at {r.sent}, and its outcome is not known; {other} "
    "carried out the same at {at}. Sent again, it might be done a second time. Nothing was "
    "sent now.",
    "{r.search}; then svc requests forget {r.id}",
    outcome="unknown",
)
OVERTAKEN: Final = DONE_UNAWARE._replace(
    message="The request {r.id} ({r.what}) was sent at {r.sent}, and its outcome is not known; "
    "{other} said otherwise at {at}. Sent again, it might undo that. Nothing was sent now."
)
SETTLED: Final = SendRefusal(
    "request_settled",
    "The request {r.id} ({r.what}) is settled: it {ended}. Nothing was sent.",
    "{r.look}",
)
KEY_REUSED: Final = SendRefusal(  # promise R12
    "idempotency_key_reused",
    "The idempotency key {r.key} was used for another request ({r.what}, {r.begun}). Nothing was "
    "sent.",
    "Use a new key for this one. The earlier one: {r.show}",
)
ROW_KNOWN_OTHERWISE: Final = SendRefusal(  # promise R115
    "idempotency_key_reused",
    "The service knows this row with other values: it was sent so before, by another machine or "
    "before this journal was begun, and may have been carried out. It is not sent as it stands "
    "now.",
    "{r.search}; if it was carried out, take the row out of the file before that: svc requests "
    "forget {r.id}",
    OutcomeUnknown,
    "unknown",
)
KEY_SPENT: Final = SendRefusal(
    "idempotency_key_too_old",
    "The same request ({r.what}) was carried out with this key at {r.sent}; after {r.safe_hours} "
    "hours the service may do it a second time. Nothing was sent.",
    "See what it did: {r.show}; for a second one use a new key",
)
# Another account would carry out what the first one has, or may have, carried out already.
DONE_BY_OTHER_KEY: Final = SendRefusal(
    "idempotency_key_spent",
    "The request {r.id} ({r.what}) was carried out with the key {r.account.key_fingerprint}; "
    "this is {own_key}, which may be of another account. Nothing was sent.",
    "See what it did: {r.show}; for a second one use a new idempotency key",
)
OPEN_WITH_OTHER_KEY: Final = SendRefusal(
    "request_unresolved",
    "The request {r.id} ({r.what}) was sent with the key {r.account.key_fingerprint} and its "
    "outcome is not known; this is {own_key}. Nothing was sent.",
    "With the first key, or with --yes if both are of one account: {r.resume}; for a second one "
    "use a new idempotency key",
)
DONE_BEFORE: Final = SendRefusal(  # whatever sending it once more met
    "idempotency_key_spent",
    "The idempotency key {r.key} is spent: {r.what} was carried out with it{r.made}, first sent at "
    "{r.sent}. Sent once more, it brought no result: {why}",
    "{r.look}",
    outcome="done",
)
ANSWER_OF_OTHER: Final = SendRefusal(  # promise R93
    NOT_OURS,
    "{r.what} may have been carried out, but {why}: it is the answer to another request.",
    "{r.resume}",
    OutcomeUnknown,
    "unknown",
)
# Sending it again could do it twice; the hint says where to see what it did (promise R4).
_NOT_AGAIN: Final = "The request {r.id} ({r.what}) is not sent again: "
KEY_TOO_OLD: Final = SendRefusal(
    "idempotency_key_too_old",
    _NOT_AGAIN + "it was sent at {r.sent}, and the service keeps a key for {r.kept_hours} hours "
    "only.",
    "{r.search}; then svc requests forget {r.id}",
    OutcomeUnknown,
    "unknown",
)
CLOCK_BEHIND: Final = KEY_TOO_OLD._replace(
    code="clock_behind",
    message=_NOT_AGAIN + "the clock says {now}, which is before it was sent ({r.sent}).",
)
FORGOTTEN: Final = KEY_TOO_OLD._replace(  # a sandbox's clock was turned forward
    message=_NOT_AGAIN + "the sandbox's clock says {now}, and it keeps a key for {r.kept_hours} "
    "hours only."
)


def build_duplicate_error(intent: Intent, likeness: str, now: float) -> SvcError:
    """Builds the error for a duplicate that is unresolved (promises R5, R115)."""
    is_old = is_too_old(intent, now) or is_in_the_future(intent, now)
    return (OLD_DUPLICATE if is_old else DUPLICATE).about(intent, likeness=likeness)


def build_already_settled(intent: Intent, format_command: FormatCommand) -> SvcError:
    """Builds the error for resuming a request that is settled."""
    settled = intent.settled or Settled("unknown")
    words = {
        "done": f"was carried out{_RequestWords(intent, format_command).made}",
        "refused": "was refused by the service",
    }
    row = SETTLED._replace(outcome=settled.outcome)
    return row.about(intent, format_command, ended=words.get(settled.outcome, settled.outcome))


def build_not_again(
    intent: Intent, now: float, format_command: FormatCommand, served: float | None = None
) -> SvcError:
    """Builds the error for a request that could have a second effect if sent again (R4).

    `served` is what a sandbox's clock says, by which it may be older.
    """
    if is_in_the_future(intent, now):
        return CLOCK_BEHIND.about(intent, format_command, now=utc(now))
    if served is not None and not is_too_old(intent, now):
        return FORGOTTEN.about(intent, format_command, now=utc(served))
    return KEY_TOO_OLD.about(intent, format_command)


def build_not_ours(intent: Intent, settled: Settled) -> SvcError:
    """Builds the error for an answer that belongs to another request (promise R93)."""
    return ANSWER_OF_OTHER.about(
        intent, answer=settled, why=explain_claimed_by_other(settled.object_id)
    )


def build_unknown_request(identifier: str) -> NotFound:
    return NotFound(
        f"There is no request {identifier[:40]!r} in the journal.",
        code="request_missing",
        outcome="not_sent",
        hint="List them: svc requests list",
    )


def build_duplicate_in_batch_error(path: str, name: str) -> Conflict:
    """Builds the error for a request that is also a row of a running batch (promise R92)."""
    return Conflict(
        f"The same request (POST {path}) is a row of the list {name}, which another process is "
        "running now. Nothing was sent.",
        code="request_in_flight",
        outcome="not_sent",
        hint="Wait for the list; to send a second one all the same, add --new-request",
    )


def build_refused_to_other_key(intent: Intent, error: SvcError) -> OutcomeUnknown:
    """Builds the error for a refusal to a key of another account, which settles nothing (R10)."""
    return OutcomeUnknown(
        f"The request {intent.id} (POST {intent.stored.path}) may have been carried out with the "
        f"key {intent.scope.key_fingerprint}; the key in use was refused, which does not settle "
        f"it: {error.message}",
        code=error.code,
        param=error.param,
        status=error.status,
        request_id=error.request_id,
        idempotency_key=intent.stored.idempotency_key,
        retryable=True,
        outcome="unknown",
    )


def settle_claimed_by_other(settled: Settled) -> Settled:
    """The outcome of a request whose answer names an object of another request (R93)."""
    return settled._replace(
        outcome="unknown",
        object_id=None,
        error_code=NOT_OURS,
        error_message=explain_claimed_by_other(settled.object_id),
    )


def explain_claimed_by_other(object_id: str | None) -> str:
    """Explains why an answer does not belong to its request."""
    return f"the answer names {object_id}, which was made under another idempotency key"


def note_recent(intent: Intent, likeness: str) -> str:
    """Formats the note of test mode that the same request was carried out a moment ago."""
    same = "The same" if intent.likeness == likeness else "The same in other words"
    made = intent.settled.object_id if intent.settled else None
    name = f" ({made})" if made else ""
    return f"{same} was done a moment ago{name}; this is a second one."
